import { useLingui } from '@lingui/react';
import { Avatar } from '../kit/avatar.js';
import { Dialog } from '../kit/dialog.js';
import overlays from '../kit/overlays.module.css';
import { useChat } from '../services/context.js';
import { useReading } from '../services/use-reading.js';
import styles from './person-list.module.css';
import { Emoji } from './reactions.js';

/** People by their reactions to a message. */
export function ReactionsDialog({ messageKey }: { readonly messageKey: string }) {
  const { i18n } = useLingui();
  const chat = useChat();
  const message = useReading(chat.message(messageKey));
  return (
    <Dialog title={i18n._('Reactions')}>
      <div className={overlays.scroll}>
        {message?.reactions.map((reaction) => (
          <section key={`${reaction.reactionType}:${reaction.emojiCode}`}>
            <h3 className={styles.heading}>
              <Emoji reaction={reaction} /> :{reaction.emojiName}: · {reaction.userIds.length}
            </h3>
            <PersonList userIds={reaction.userIds} />
          </section>
        ))}
      </div>
    </Dialog>
  );
}

export function PersonList({ userIds }: { readonly userIds: readonly number[] }) {
  return (
    <ul className={styles.people}>
      {userIds.map((id) => (
        <Person key={id} id={id} />
      ))}
    </ul>
  );
}

function Person({ id }: { readonly id: number }) {
  const { name, avatarUrl } = useReading(useChat().people.person(id));
  return (
    <li className={styles.person}>
      <Avatar url={avatarUrl} name={name} size={26} />
      <span>{name}</span>
    </li>
  );
}
