import { useLingui } from '@lingui/react';
import { Card } from '../kit/card.js';
import { useChat, useComputed } from '../services/context.js';
import { groupName } from './group-name.js';
import { PeopleList } from './people-list.js';
import styles from './person-card.module.css';

/** Description and members of a group, including subgroups. */
export function GroupCard({ groupId }: { readonly groupId: number }) {
  const { i18n } = useLingui();
  const chat = useChat();
  const group = useComputed(() => chat.state.groups.get(groupId), [chat, groupId]);
  const members = useComputed(() => chat.people.membersOf(groupId), [chat, groupId]);
  if (!group) return null;
  return (
    <Card label={groupName(group, i18n)}>
      <div className={styles.card}>
        <div className={styles.title}>
          <h2>@{groupName(group, i18n)}</h2>
          {group.deactivated && <p>{i18n._('This group is deactivated.')}</p>}
          {group.description !== '' && <p>{group.description}</p>}
          <p>{i18n._('{count, plural, one {# member} other {# members}}', { count: members.length })}</p>
        </div>
        <PeopleList userIds={members} label={i18n._('Members')} />
      </div>
    </Card>
  );
}
