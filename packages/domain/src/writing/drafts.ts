import type { Actor } from '../access/actor.js';
import { cutTopic } from '../channels/channel.js';
import { canReadActive, unknownChannel } from '../channels/channel-access.js';
import { DomainError, declareErrors } from '../kernel/errors.js';
import type { FeatureParts } from '../kernel/event.js';
import type { ChannelId, DraftId, MessageId, RealmId, UnixSeconds, UserId } from '../kernel/ids.js';
import { idPayload, jobKind } from '../kernel/jobs.js';
import { type Decision, denyIf, enforce } from '../kernel/permission.js';
import { PersonalList } from '../kernel/personal-list.js';
import type { Snapshot } from '../kernel/register-queue.js';
import type { UserRow, UserRowReads, UserRows } from '../kernel/rows.js';
import * as shape from '../kernel/shape.js';
import { MAX_KEPT_TEXT_BYTES, trim } from '../kernel/text.js';
import type { Repositories, Transaction } from '../kernel/unit-of-work.js';
import { firstOf } from '../kernel/work.js';
import { otherParticipants, parseContent } from '../messages/message.js';
import type { UserSettings } from '../realms/user-settings.js';
import { quotedMessages } from './quotes.js';

/** Unsent message. */
export interface Draft extends UserRow {
  readonly id: DraftId;
  readonly to:
    | { readonly kind: 'channel'; readonly channelId: ChannelId; readonly topic: string }
    /** Ascending, without the owner unless they are the only recipient. */
    | { readonly kind: 'direct'; readonly userIds: readonly UserId[] }
    /** Recipient not chosen yet. */
    | { readonly kind: 'nobody' };
  /** Markdown. */
  readonly content: string;
  /** May include a fraction. */
  readonly editedAt: UnixSeconds;
}

export type NewDraft = Omit<Draft, 'id'>;

/** Per user. */
export const MAX_DRAFTS = 2000;
/** Maximum number of drafts sent on registration, last edited first (protocol §14). */
export const MAX_REGISTERED_DRAFTS = 1000;

/** Checked before anything else (users §17). */
export const mustSynchronizeDrafts = ({
  settings,
}: {
  readonly settings: Pick<UserSettings, 'enableDraftsSynchronization'>;
}): Decision =>
  denyIf(!settings.enableDraftsSynchronization, 'DRAFTS_NOT_SYNCHRONIZED', 'User has disabled synchronizing drafts.');

export const DRAFT_ERRORS = declareErrors({
  /** The user has disabled draft synchronization. */
  DRAFTS_NOT_SYNCHRONIZED: 'forbidden',
  /** The caller has no such draft. */
  UNKNOWN_DRAFT: 'unknown',
  /** Invalid time, topic or number of channels. */
  INVALID_DRAFT: 'invalid',
  /** The user would have too many drafts, or too much text in them. */
  TOO_MANY_DRAFTS: 'conflict',
});

type DraftErrors = typeof DRAFT_ERRORS;

/** Sent to the owner of the drafts (users §17). */
export interface DraftEventTypes {
  /** Ordered as in the request; may be empty. */
  'draft.added': { readonly drafts: readonly Draft[] };
  'draft.changed': { readonly draft: Draft };
  'draft.removed': { readonly id: DraftId };
}

export interface DraftReads extends UserRowReads<Draft> {
  /** Returns those of the messages that drafts may quote, ascending. */
  listQuoted(realmId: RealmId, messageIds: readonly MessageId[]): Promise<readonly MessageId[]>;
  /** Returns the oldest `limit` drafts of all users that may quote the message, with ids above `after`. */
  listQuoting(realmId: RealmId, messageId: MessageId, after: number, limit: number): Promise<readonly Draft[]>;
}

/** Every implementation passes draft-repository.contract.ts. */
export type DraftRepository = DraftReads & UserRows<Draft>;

declare module '../kernel/feature-types.js' {
  interface RepositoryMap {
    drafts: [reads: DraftReads, repository: DraftRepository];
  }
  interface ErrorCodes extends DraftErrors {}
  interface DomainEventTypes extends DraftEventTypes {}
  interface PersonCopyParts {
    readonly drafts: readonly Draft[];
  }
  interface IdKindParts {
    draft: DraftId;
  }
}

const addressee: shape.Shape<object> = (value, path) => {
  const kind = shape.oneOf('channel', 'direct', 'nobody')(shape.record(value, path).kind, `${path}.kind`);
  if (kind === 'nobody') return { kind };
  if (kind === 'direct') {
    return { kind, ...shape.object({ userIds: shape.list(shape.anyId, 100_000) })(value, path) };
  }
  return { kind, ...shape.object({ channelId: shape.anyId, topic: shape.name })(value, path) };
};

/** Last edited first. */
export const DRAFT_LIST = new PersonalList<Draft>('drafts', {
  rows: {
    kind: 'draft',
    order: ['-editedAt', '-id'],
    texts: ['content'],
    exported: {
      noun: 'draft',
      shape: { to: addressee, content: shape.content, editedAt: shape.number },
      max: 100_000,
      covered(draft, { channelIds, userIds }) {
        const { to } = draft;
        const isCovered =
          to.kind === 'channel'
            ? channelIds.has(to.channelId)
            : to.kind === 'nobody' || to.userIds.every((id) => userIds.has(id));
        return isCovered ? draft : null;
      },
      imported: ({ to, content }, { channels, users, rewriter }) => ({
        to:
          to.kind === 'channel'
            ? { ...to, channelId: channels.get(to.channelId) }
            : to.kind === 'direct'
              ? { ...to, userIds: users.list(to.userIds) }
              : to,
        content: rewriter.markdown(content),
      }),
    },
  },
  max: MAX_DRAFTS,
  unknown: ['UNKNOWN_DRAFT', 'Draft does not exist'],
  tooMany: ['TOO_MANY_DRAFTS', `Too many drafts (limit: ${MAX_DRAFTS}).`],
  tooLong: ['TOO_MANY_DRAFTS', `Too much text in drafts (limit: ${MAX_KEPT_TEXT_BYTES} bytes).`],
  quoted: ({ content }) => quotedMessages(content)[0],
  events: {
    changed: (draft) => ({ type: 'draft.changed', draft }),
    removed: ({ id }) => ({ type: 'draft.removed', id }),
  },
});

export const DRAFT_FEATURE = {
  eventFormats: { 'draft.added': 1, 'draft.changed': 1, 'draft.removed': 1 },
  rows: { drafts: DRAFT_LIST.rows },
} satisfies FeatureParts<DraftEventTypes>;

/** Removes the text of a deleted message from drafts that quote it. */
export const DELETED_QUOTE_JOB = jobKind({
  name: 'drafts.remove_quotes',
  readPayload: idPayload<{ readonly id: number }>('id'),
});

/** Loads the viewer's drafts, last edited first (events §3.2). */
export const loadDrafts = ({ caller, repositories }: Snapshot): Promise<readonly Draft[]> =>
  DRAFT_LIST.list(repositories, caller, MAX_REGISTERED_DRAFTS);

/** Draft as received. */
export interface DraftInput {
  readonly kind: 'channel' | 'direct' | 'nobody';
  /** Id of a channel or ids of users. */
  readonly to: readonly number[];
  readonly topic: string;
  readonly content: string;
  /** Null stands for the current time. */
  readonly editedAt: UnixSeconds | null;
}

type Reads = Pick<Repositories | Transaction, 'channels' | 'users'>;

/**
 * Validates drafts and converts them to their stored form (users §17). Uses a constant number of queries.
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
  const userIds = new Set<number>((await reads.users.list(realmId, named('direct') as UserId[])).map(({ id }) => id));
  return inputs.map((input) => {
    const content = parseContent(input.content);
    if ((input.editedAt ?? 0) < 0) throw invalid('Timestamp must not be negative.');
    return { realmId, userId, to: destinationOf(input), content, editedAt: input.editedAt ?? now };
  });

  function destinationOf({ kind, to, topic }: DraftInput): NewDraft['to'] {
    if (kind === 'nobody' || (kind === 'direct' && to.length === 0)) return { kind: 'nobody' };
    if (kind === 'direct') {
      const unknown = to.find((id) => !userIds.has(id));
      if (unknown !== undefined) throw new DomainError('UNKNOWN_USER', `Invalid user ID ${unknown}`);
      return { kind: 'direct', userIds: otherParticipants(to as readonly UserId[], userId) };
    }
    if (topic.includes('\0')) throw invalid('Topic must not contain null bytes');
    if (to.length !== 1) throw invalid('Must specify exactly 1 channel ID for channel messages');
    if (!readable.has(firstOf(to))) enforce(unknownChannel);
    return { kind: 'channel', channelId: to[0] as ChannelId, topic: cutTopic(trim(topic)) };
  }
}

const invalid = (message: string) => new DomainError('INVALID_DRAFT', message);
