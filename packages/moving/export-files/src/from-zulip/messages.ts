import { emojiWord } from '@parley/domain/files';
import type { MessageId, UserId } from '@parley/domain/kernel';
import type { MessageCopy } from '@parley/transfer/exports';
import { EMOJI_TYPE_NAMES, keyOfValue } from '../layout.js';
import { id, text } from '../parley-shapes.js';
import { grouped, NAME, type TableReader, user } from './table-reader.js';

export function readReactions(
  tables: TableReader,
  userIds: ReadonlySet<UserId>,
): ReadonlyMap<MessageId, MessageCopy['reactions']> {
  const rows = tables.table('zerver_reaction', {
    user_profile: user,
    message: id<MessageId>(),
    emoji_name: emojiWord,
    emoji_code: emojiWord,
    reaction_type: NAME,
  });
  const reactions = new Map<MessageId, MessageCopy['reactions'][number][]>();
  for (const it of rows) {
    const type = keyOfValue(EMOJI_TYPE_NAMES, it.reaction_type);
    if (!type || !userIds.has(it.user_profile)) continue;
    const reaction = { userId: it.user_profile, type, code: it.emoji_code, name: it.emoji_name };
    const existing = reactions.get(it.message);
    if (existing) existing.push(reaction);
    else reactions.set(it.message, [reaction]);
  }
  return reactions;
}

export function readSubmessages(
  tables: TableReader,
  userIds: ReadonlySet<UserId>,
): ReadonlyMap<MessageId, MessageCopy['submessages']> {
  const rows = tables.table('zerver_submessage', {
    message: id<MessageId>(),
    sender: user,
    msg_type: NAME,
    content: text(),
  });
  const own = rows.filter(({ sender }) => userIds.has(sender));
  return new Map(
    [...grouped(own, (it) => it.message)].map(([message, items]) => [
      message,
      items.map(({ sender, msg_type, content }) => ({ senderId: sender, kind: msg_type, content })),
    ]),
  );
}
