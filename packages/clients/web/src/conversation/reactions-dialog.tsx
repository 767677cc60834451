import { useLingui } from '@lingui/react';
import { Dialog } from '../kit/dialog.js';
import { Emoji } from '../kit/emoji.js';
import overlays from '../kit/overlays.module.css';
import { PeopleList } from '../people/people-list.js';
import { useChat } from '../services/context.js';
import { useReading } from '../services/use-reading.js';
import styles from './reactions.module.css';

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
              <Emoji type={reaction.reactionType} code={reaction.emojiCode} name={reaction.emojiName} /> :
              {reaction.emojiName}: · {reaction.userIds.length}
            </h3>
            <PeopleList userIds={reaction.userIds} label={`:${reaction.emojiName}:`} />
          </section>
        ))}
      </div>
    </Dialog>
  );
}
