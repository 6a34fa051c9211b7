//! The Linux host: scheduling, affinity, memory, CPU accounting, doctor rules
