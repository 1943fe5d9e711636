import pkg
from pkg import table as renamed
from pkg import table

table.tolist()  # expect: SYN102
renamed.tolist()  # expect: SYN102
pkg.table.tolist()  # expect: SYN102
