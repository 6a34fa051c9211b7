//! Users and groups, by the texts of passwd(5) and group(5). Those that a directory service keeps are not in there.

use std::env;

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
}

/// Root who calls sudo is nobody else.
fn behind(own: User, uid: u32, gid: u32) -> Option<User> {
    (own.uid == 0 && uid != 0).then_some(User { uid, gid })
}

/// Users and groups of a machine.
pub(crate) struct Accounts {
    passwd: String,
    groups: String,
}

impl Accounts {
    /// `read` has the text of a file; a file that it can't read names nobody.
    pub(crate) fn read(read: impl Fn(&str) -> Option<String>) -> Accounts {
        let text = |path| read(path).unwrap_or_default();
        Accounts { passwd: text("/etc/passwd"), groups: text("/etc/group") }
    }

    pub(crate) fn known(&self, uid: u32) -> Option<&str> {
        self.passwd.lines().find_map(|line| {
            let mut fields = line.split(':');
            let (name, number) = (fields.next()?, fields.nth(1)?);
            (number.parse() == Ok(uid)).then_some(name)
        })
    }

    /// The name of a user, or `user 1000` of one whom this machine does not list.
    pub(crate) fn name(&self, uid: u32) -> String {
        self.known(uid).map_or_else(|| format!("user {uid}"), str::to_owned)
    }

    /// Whether nobody else is in a user's group: it has the user's name, no other member, and is no other user's login group.
    /// Root's group counts as root alone: some distributions put accounts of the system there.
    pub(crate) fn is_alone_in_its_group(&self, user: User) -> bool {
        if user.gid == 0 {
            return true;
        }
        let Some(name) = self.known(user.uid) else { return false };
        let mut groups = self.groups.lines().map(|line| line.split(':').collect::<Vec<_>>());
        let own = groups.find(|fields| fields.get(2).is_some_and(|gid| gid.parse() == Ok(user.gid)));
        let has_its_name = own.is_some_and(|fields| match fields[..] {
            [group, _, _, members] => {
                group == name && members.split(',').all(|member| member.is_empty() || member == name)
            }
            _ => false,
        });
        has_its_name && !self.has_others(user)
    }

    /// Whether it is another user's login group.
    fn has_others(&self, user: User) -> bool {
        self.passwd.lines().any(|line| {
            let mut numbers = line.split(':').skip(2).map(|number| number.parse::<u32>().ok());
            let (uid, gid) = (numbers.next().flatten(), numbers.next().flatten());
            gid == Some(user.gid) && uid.is_some_and(|uid| uid != user.uid)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn accounts(passwd: &str, groups: &str) -> Accounts {
        Accounts { passwd: passwd.to_owned(), groups: groups.to_owned() }
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
        let alone = |passwd: &str, groups: &str| accounts(passwd, groups).is_alone_in_its_group(ada);
        let passwd = "ada:x:1000:1000::/home/ada:/bin/sh\n";
        assert!(alone(passwd, "root:x:0:\nada:x:1000:\n") && alone(passwd, "ada:x:1000:ada\n"));
        assert!(!alone(passwd, "users:x:1000:\n"), "a group of several");
        assert!(!alone(passwd, "ada:x:1000:eve\n"), "a member");
        assert!(!alone(&format!("{passwd}eve:x:1001:1000::/:/bin/sh\n"), "ada:x:1000:\n"), "eve's login group");
        assert!(!alone("", "ada:x:1000:\n") && !alone(passwd, "") && !alone(passwd, "rubbish\nada:x:1000\n"));
        assert!(accounts("", "").is_alone_in_its_group(User { uid: 0, gid: 0 }));
    }
}
