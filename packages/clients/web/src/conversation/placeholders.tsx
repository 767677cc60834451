// Contents of a conversation without drawn messages, loaded on first use.
import type { I18n } from '@lingui/core';
import { useLingui } from '@lingui/react';
import type { ConversationView, Narrow } from '@parley/chat';
import { textOfHtml } from '../content/html-text.js';
import { AtSign, MessageSquare, Star } from '../icons/icons.js';
import { Empty } from '../kit/empty.js';
import { useChat, useComputed } from '../services/context.js';
import styles from './conversation-page.module.css';

interface MissingProps {
  /** Null if only the server knows the part. */
  readonly part: 'channel' | 'person' | null;
  readonly narrow: Narrow;
}

/** Explains which part of an address does not exist, and links to the nearest existing place. */
export function Missing({ part: known, narrow }: MissingProps) {
  const { i18n } = useLingui();
  const part = known ?? refusedIn(narrow);
  const { isVisitor } = useChat();
  const isChannel = part === 'channel';
  return (
    <div className={styles.empty}>
      <p>
        {isChannel
          ? i18n._('There is no channel at this address, or you are not allowed to see it.')
          : part === 'person'
            ? i18n._('There is no person at this address, or you are not allowed to see them.')
            : i18n._('There is no such page.')}
      </p>
      {isVisitor ? (
        <a href="#feed">{i18n._('Combined feed')}</a>
      ) : isChannel ? (
        <a href="#channels/all">{i18n._('Channels')}</a>
      ) : (
        <a href="#inbox">{i18n._('Inbox')}</a>
      )}
    </div>
  );
}

/** Part of a narrow that the server rejected. */
function refusedIn(narrow: Narrow): 'channel' | 'person' | 'page' {
  if (narrow.some(({ operator, operand }) => operator === 'channel' && typeof operand === 'string')) return 'channel';
  return narrow.some(({ operator }) => operator === 'sender' || operator === 'mentions') ? 'person' : 'page';
}

/** Conversation or view without messages. */
export function NoMessages({ view }: { readonly view: ConversationView }) {
  const { i18n } = useLingui();
  const chat = useChat();
  const { narrow, destination } = view;
  const mayWrite = useComputed(() => destination !== null && chat.rights.canSend(destination) === null, [chat, view]);
  return (
    <Empty
      {...aboutList(narrow, i18n)}
      {...(mayWrite && { hint: i18n._('Write the first one below.') })}
      text={i18n._('There are no messages here yet.')}
      link={chat.isVisitor ? undefined : nextStep(narrow, i18n)}
    />
  );
}

/** Icon of a list without messages, and a hint about its contents. */
function aboutList(narrow: Narrow, i18n: I18n) {
  const list = flagOf(narrow);
  if (list === 'starred') return { icon: Star, hint: i18n._('Messages that you star appear here.') };
  if (list === 'mentioned') return { icon: AtSign, hint: i18n._('Messages that mention you appear here.') };
  return { icon: MessageSquare };
}

function nextStep(narrow: Narrow, i18n: I18n) {
  if (narrow.length === 0) return { href: '#channels/all', text: i18n._('Browse channels') };
  if (flagOf(narrow) === null) return undefined;
  return { href: '#recent', text: i18n._('Recent conversations') };
}

/** Operand of a narrow such as `is:starred`; null for others. */
const flagOf = ([term, ...others]: Narrow) => (term?.operator === 'is' && others.length === 0 ? term.operand : null);

/** Plain text of a message that failed to render. */
export const PlainText = ({ html }: { readonly html: string }) => <p>{textOfHtml(html)}</p>;
