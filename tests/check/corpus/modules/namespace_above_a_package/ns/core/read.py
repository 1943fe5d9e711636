import ns.core.moe.make as whole
from ns.core.moe.make import make

make(3).tolist()  # expect: SYN102
whole.make(3).tolist()  # expect: SYN102
