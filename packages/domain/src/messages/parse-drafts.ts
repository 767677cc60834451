import type { Actor } from '../access/actor.js';
import { canReadActive, unknownChannel } from '../channels/channel-access.js';
import { cutTopic } from '../channels/topic.js';
import { DomainError } from '../kernel/errors.js';
import type { ChannelId, UnixSeconds, UserId } from '../kernel/ids.js';
import { enforce } from '../kernel/permission.js';
import { trim } from '../kernel/text.js';
import type { Repositories, Transaction } from '../kernel/unit-of-work.js';
import type { NewDraft } from './draft.js';
import { parseContent } from './message.js';
import { otherParticipants } from './recipient.js';

/** A draft as it was given. */
export interface DraftInput {
  readonly kind: 'channel' | 'direct' | 'nobody';
  /** The id of a channel, or ids of users. */
  readonly to: readonly number[];
  readonly topic: string;
  readonly content: string;
  /** Null: now. */
  readonly editedAt: UnixSeconds | null;
}

type Reads = Pick<Repositories | Transaction, 'channels' | 'users'>;

/**
 * Drafts as they are kept (users §17). A constant number of queries.
 * @throws DomainError INVALID_DRAFT, INVALID_MESSAGE_CONTENT, UNKNOWN_CHANNEL, UNKNOWN_USER
 */
export async function parseDrafts(
  reads: Reads,
  actor: Actor,
  inputs: readonly DraftInput[],
  now: UnixSeconds,
): Promise<readonly NewDraft[]> {
  const { realmId, id: userId } = actor;
  const named = (kind: DraftInput['kind']) => [
    ...new Set(inputs.filter((input) => input.kind === kind).flatMap(({ to }) => to)),
  ];
  const found = await reads.channels.list(realmId, named('channel') as ChannelId[]);
  const subscribed = new Set(await reads.channels.listSubscribedIds(realmId, userId));
  const readable = new Set<number>(
    found.filter((channel) => canReadActive(actor, channel, subscribed.has(channel.id)).allowed).map(({ id }) => id),
  );
  const known = new Set<number>((await reads.users.list(realmId, named('direct') as UserId[])).map(({ id }) => id));
  return inputs.map((input) => {
    const content = parseContent(input.content);
    if ((input.editedAt ?? 0) < 0) throw invalid('Timestamp must not be negative.');
    return { realmId, userId, to: destinationOf(input), content, editedAt: input.editedAt ?? now };
  });

  function destinationOf({ kind, to, topic }: DraftInput): NewDraft['to'] {
    if (kind === 'nobody' || (kind === 'direct' && to.length === 0)) return { kind: 'nobody' };
    if (kind === 'direct') {
      const unknown = to.find((id) => !known.has(id));
      if (unknown !== undefined) throw new DomainError('UNKNOWN_USER', `Invalid user ID ${unknown}`);
      return { kind: 'direct', userIds: otherParticipants(to as readonly UserId[], userId) };
    }
    if (topic.includes('\0')) throw invalid('Topic must not contain null bytes');
    if (to.length !== 1) throw invalid('Must specify exactly 1 channel ID for channel messages');
    if (!readable.has(to[0]!)) enforce(unknownChannel);
    return { kind: 'channel', channelId: to[0] as ChannelId, topic: cutTopic(trim(topic)) };
  }
}

const invalid = (message: string) => new DomainError('INVALID_DRAFT', message);
