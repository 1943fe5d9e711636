from ..device import WHERE
