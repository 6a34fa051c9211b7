//! Bytes on the wire: VITA-49, N200 control and FIFO packets, EEPROM images, sample formats
