import { useLingui } from '@lingui/react';
import type { Icon } from '../icons/icon.js';
import { CircleCheckBig, Clock, Hash, MessageSquarePlus, PencilLine, Star } from '../icons/icons.js';
import { CountBadge } from '../kit/badge.js';
import { useChat, useComputed, useServices } from '../services/context.js';
import { openOverlay } from '../services/overlay.js';
import styles from './inbox.module.css';

/** Empty inbox: links to drafts, starred messages and next steps. */
export function InboxDone() {
  const { i18n } = useLingui();
  const { drafts } = useServices();
  const { state } = useChat();
  const draftCount = useComputed(() => drafts.all.value.length, [drafts]);
  const starCount = useComputed(() => state.starred.keys().length, [state]);
  return (
    <div className={styles.done}>
      <CircleCheckBig size={40} aria-hidden />
      <p>{i18n._('You have read everything.')}</p>
      <ul>
        {draftCount > 0 && <Next href="#drafts" icon={PencilLine} text={i18n._('Drafts')} count={draftCount} />}
        {starCount > 0 && (
          <Next href="#narrow/is/starred" icon={Star} text={i18n._('Starred messages')} count={starCount} />
        )}
        <Next href="#recent" icon={Clock} text={i18n._('Recent conversations')} />
        <Next href="#channels/all" icon={Hash} text={i18n._('Browse channels')} />
        <li>
          <button
            type="button"
            className={styles.next}
            aria-haspopup="dialog"
            onClick={({ currentTarget }) =>
              openOverlay(currentTarget, async () => {
                const { DirectDialog } = await import('../people/direct-dialog.js');
                return <DirectDialog />;
              })
            }
          >
            <MessageSquarePlus size={18} aria-hidden /> {i18n._('New direct message')}
          </button>
        </li>
      </ul>
    </div>
  );
}

interface NextProps {
  readonly href: string;
  readonly icon: Icon;
  readonly text: string;
  readonly count?: number;
}

const Next = ({ href, icon: Icon, text, count = 0 }: NextProps) => (
  <li>
    <a className={styles.next} href={href}>
      <Icon size={18} aria-hidden /> {text} <CountBadge count={count} />
    </a>
  </li>
);
