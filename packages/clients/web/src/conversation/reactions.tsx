import { useLingui } from '@lingui/react';
import type { Emoji as EmojiName, MessageRow, ReactionRow } from '@parley/chat';
import { Emoji } from '../kit/emoji.js';
import { useChat } from '../services/context.js';
import { reportFailure } from '../services/failures.js';
import styles from './reactions.module.css';

/** Maximum number of people listed in a reaction's label. */
const MAX_NAMES = 10;

/** Reactions to a message; a click toggles the user's own. */
export function Reactions({ message }: { readonly message: MessageRow }) {
  if (message.reactions.length === 0) return null;
  return (
    <div className={styles.reactions} part="reactions">
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
  const others = reaction.userIds
    .filter((id) => id !== chat.state.selfId)
    .map((id) => chat.people.person(id).peek().name);
  const names = reaction.isOwn ? [i18n._('You'), ...others] : others;
  const count = names.length - MAX_NAMES;
  const rest = count > 0 ? [i18n._('{count, plural, one {# other} other {# others}}', { count })] : [];
  const people = new Intl.ListFormat(i18n.locale, { type: 'conjunction' }).format([
    ...names.slice(0, MAX_NAMES),
    ...rest,
  ]);
  const label = i18n._('{people} reacted with :{emoji}:', { people, emoji: reaction.emojiName });
  return (
    <button
      type="button"
      aria-pressed={reaction.isOwn}
      aria-label={`${reaction.userIds.length}: ${label}`}
      title={label}
      disabled={chat.isVisitor}
      onClick={() => void chat.commands.toggleReaction(messageId, emojiOf(reaction)).catch(reportFailure)}
    >
      <Emoji type={reaction.reactionType} code={reaction.emojiCode} name={reaction.emojiName} />
      <span>{reaction.userIds.length}</span>
    </button>
  );
}

const emojiOf = ({ emojiName, emojiCode, reactionType }: ReactionRow): EmojiName => ({
  emoji_name: emojiName,
  emoji_code: emojiCode,
  reaction_type: reactionType,
});
