//! Owner of this process, and who typed `sudo`.

use std::env;

use crate::host::Host;

/// A user of this machine, with the group of what is made for that user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct User {
    pub uid: u32,
    pub gid: u32,
}

impl User {
    /// The one whose rights this process has.
    #[must_use]
    pub fn own() -> User {
        User { uid: rustix::process::geteuid().as_raw(), gid: rustix::process::getegid().as_raw() }
    }

    /// The one who typed `sudo`, if this process is root's by that.
    #[must_use]
    pub fn behind_sudo() -> Option<User> {
        let number = |name| env::var(name).ok()?.parse().ok();
        behind(User::own(), number("SUDO_UID")?, number("SUDO_GID")?)
    }

    /// As the owner of files is given to chown(1): the name with its login group, or the numbers of one without a name.
    #[must_use]
    pub fn as_owner(self, host: &Host) -> String {
        known(host, self.uid).map_or_else(|| format!("{}:{}", self.uid, self.gid), |name| format!("{name}:"))
    }

    /// Whether nobody else is in the group, by passwd(5) and group(5): it has the user's name, no other member, and is no other
    /// user's login group. Root's group counts as root alone: some distributions put accounts of the system there.
    pub(crate) fn is_alone_in_its_group(self, host: &Host) -> bool {
        if self.gid == 0 {
            return true;
        }
        let (Some(name), Ok(groups)) = (known(host, self.uid), host.read("/etc/group")) else { return false };
        let mut groups = groups.lines().map(|line| line.split(':').collect::<Vec<_>>());
        let own = groups.find(|fields| fields.get(2).is_some_and(|gid| gid.parse() == Ok(self.gid)));
        let has_its_name = own.is_some_and(|fields| match fields[..] {
            [group, _, _, members] => {
                group == name && members.split(',').all(|member| member.is_empty() || member == name)
            }
            _ => false,
        });
        has_its_name && others_in(host, self).is_empty()
    }
}

/// The name of a user, or `user 1000` of one whom this machine does not list.
#[must_use]
pub fn name(host: &Host, uid: u32) -> String {
    known(host, uid).unwrap_or_else(|| format!("user {uid}"))
}

/// Root who calls sudo is nobody else.
fn behind(own: User, uid: u32, gid: u32) -> Option<User> {
    (own.uid == 0 && uid != 0).then_some(User { uid, gid })
}

/// The name by passwd(5); those that a directory service keeps are not in there.
fn known(host: &Host, uid: u32) -> Option<String> {
    let text = host.read("/etc/passwd").ok()?;
    text.lines().find_map(|line| {
        let mut fields = line.split(':');
        let (name, number) = (fields.next()?, fields.nth(1)?);
        (number.parse() == Ok(uid)).then(|| name.to_owned())
    })
}

/// Other users whose login group it is.
fn others_in(host: &Host, user: User) -> Vec<u32> {
    let text = host.read("/etc/passwd").unwrap_or_default();
    let other = |line: &str| {
        let mut fields = line.split(':').skip(2).map(|number| number.parse::<u32>().ok());
        let (uid, gid) = (fields.next()??, fields.next()??);
        (gid == user.gid && uid != user.uid).then_some(uid)
    };
    text.lines().filter_map(other).collect()
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

    #[test]
    fn only_root_by_sudo_has_another_behind() {
        let (root, ada) = (User { uid: 0, gid: 0 }, User { uid: 1000, gid: 1001 });
        assert_eq!(behind(root, 1000, 1001), Some(ada));
        assert_eq!(behind(root, 0, 0), None);
        assert_eq!(behind(ada, 1002, 1002), None, "sudo -u ada");
    }

    #[test]
    fn a_group_is_its_users_alone_if_it_has_the_name_and_nobody_else() {
        let ada = User { uid: 1000, gid: 1000 };
        let alone = |passwd: &str, group: &str| {
            let tree = Tree::new().with("/etc/passwd", passwd).with("/etc/group", group);
            ada.is_alone_in_its_group(&tree.host())
        };
        let passwd = "ada:x:1000:1000::/home/ada:/bin/sh\n";
        assert!(alone(passwd, "root:x:0:\nada:x:1000:\n") && alone(passwd, "ada:x:1000:ada\n"));
        assert!(!alone(passwd, "users:x:1000:\n"), "a group of several");
        assert!(!alone(passwd, "ada:x:1000:eve\n"), "a member");
        assert!(!alone(&format!("{passwd}eve:x:1001:1000::/:/bin/sh\n"), "ada:x:1000:\n"), "eve's login group");
        assert!(!alone("", "ada:x:1000:\n") && !alone(passwd, "") && !alone(passwd, "rubbish\nada:x:1000\n"));
        assert!(User { uid: 0, gid: 0 }.is_alone_in_its_group(&Tree::new().host()));
    }
}
