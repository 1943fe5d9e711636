import ns.inner.mod
import ns.inner.mod as renamed
from ns.inner import mod
from ns.inner.mod import make

make(3).tolist()  # expect: SYN102
mod.make(3).tolist()  # expect: SYN102
renamed.make(3).tolist()  # expect: SYN102
ns.inner.mod.make(3).tolist()  # todo: SYN102
