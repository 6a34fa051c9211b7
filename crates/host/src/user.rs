//! Owner of this process, who typed `sudo`, and the names of users.

pub use crate::accounts::User;

use crate::accounts::Accounts;
use crate::host::Host;

impl User {
    /// As the owner of files is given to chown(1): the name with its login group, or the numbers of one without a name.
    #[must_use]
    pub fn as_owner(self, host: &Host) -> String {
        let named = |name: &str| format!("{name}:");
        of(host).known(self.uid).map_or_else(|| format!("{}:{}", self.uid, self.gid), named)
    }
}

/// The name of a user, or `user 1000` of one whom this machine does not list.
#[must_use]
pub fn name(host: &Host, uid: u32) -> String {
    of(host).name(uid)
}

fn of(host: &Host) -> Accounts {
    Accounts::read(|path| host.read(path).ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Tree;

    #[test]
    fn users_are_named_where_there_is_a_name() {
        let tree =
            Tree::new().with("/etc/passwd", "root:x:0:0::/root:/bin/sh\nrubbish\nada:x:1000:1001::/home/ada:/bin/sh\n");
        let host = tree.host();
        assert_eq!((name(&host, 1000), name(&host, 7)), ("ada".to_owned(), "user 7".to_owned()));
        assert_eq!(User { uid: 1000, gid: 1001 }.as_owner(&host), "ada:");
        assert_eq!(User { uid: 7, gid: 8 }.as_owner(&host), "7:8");
        assert_eq!(name(&Tree::new().host(), 0), "user 0");
    }
}
