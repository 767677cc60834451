import { useLingui } from '@lingui/react';
import type { Emoji as EmojiName, MessageRow, ReactionRow } from '@parley/chat';
import { useChat, useField, useServices } from '../services/context.js';
import { reportFailure } from '../services/failures.js';
import styles from './reactions.module.css';

/** Reactions to a message; a click adds or removes the reader's own. */
export function Reactions({ message }: { readonly message: MessageRow }) {
  if (message.reactions.length === 0) return null;
  return (
    <div className={styles.reactions}>
      {message.reactions.map((reaction) => (
        <ReactionButton
          key={`${reaction.reactionType}:${reaction.emojiCode}`}
          messageId={message.id!}
          reaction={reaction}
        />
      ))}
    </div>
  );
}

function ReactionButton({ messageId, reaction }: { readonly messageId: number; readonly reaction: ReactionRow }) {
  const chat = useChat();
  const { i18n } = useLingui();
  const names = reaction.userIds.slice(0, 10).map((id) => chat.people.person(id).peek().name);
  const people = new Intl.ListFormat(i18n.locale, { type: 'conjunction' }).format(names);
  const label = i18n._('{people} reacted with :{emoji}:', { people, emoji: reaction.emojiName });
  return (
    <button
      type="button"
      aria-pressed={reaction.isOwn}
      aria-label={label}
      title={label}
      onClick={() => void chat.commands.react(messageId, emojiOf(reaction), !reaction.isOwn).catch(reportFailure)}
    >
      <Emoji reaction={reaction} />
      <span>{reaction.userIds.length}</span>
    </button>
  );
}

export function Emoji({ reaction }: { readonly reaction: ReactionRow }) {
  const { baseUrl } = useServices();
  const customEmoji = useField('realm_emoji');
  if (reaction.reactionType === 'unicode_emoji') {
    return (
      <span>{String.fromCodePoint(...reaction.emojiCode.split('-').map((digits) => Number.parseInt(digits, 16)))}</span>
    );
  }
  const source = customEmoji?.[reaction.emojiCode]?.source_url;
  if (source === undefined) return <span>:{reaction.emojiName}:</span>;
  return <img src={new URL(source.replace(/^\//, ''), baseUrl).href} alt="" width={18} height={18} />;
}

const emojiOf = ({ emojiName, emojiCode, reactionType }: ReactionRow): EmojiName => ({
  emoji_name: emojiName,
  emoji_code: emojiCode,
  reaction_type: reactionType,
});
