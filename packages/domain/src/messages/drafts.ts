import type { Actor } from '../access/actor.js';
import { cutTopic } from '../channels/channel.js';
import { canReadActive, unknownChannel } from '../channels/channel-access.js';
import { DomainError, declareErrors } from '../kernel/errors.js';
import { type EventOf, type FeatureParts, users } from '../kernel/event.js';
import { byId, type PersonPart } from '../kernel/export-parts.js';
import type { ChannelId, DraftId, RealmId, UnixSeconds, UserId } from '../kernel/ids.js';
import { type Decision, denyIf, enforce } from '../kernel/permission.js';
import type { Snapshot } from '../kernel/register-queue.js';
import type { RowRules, UserRowReads, UserRows } from '../kernel/rows.js';
import * as shape from '../kernel/shape.js';
import { keepsTooMuchText, MAX_KEPT_TEXT_BYTES, trim } from '../kernel/text.js';
import type { Repositories, Transaction } from '../kernel/unit-of-work.js';
import type { UserSettings } from '../realms/user-settings.js';
import { otherParticipants, parseContent } from './message.js';

/** Unsent message. */
export interface Draft {
  readonly id: DraftId;
  readonly realmId: RealmId;
  readonly userId: UserId;
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

/** @throws DomainError TOO_MANY_DRAFTS */
export function requireRoomForDrafts(count: number): void {
  if (count <= MAX_DRAFTS) return;
  throw new DomainError('TOO_MANY_DRAFTS', `Too many drafts (limit: ${MAX_DRAFTS}).`);
}

/** See `keepsTooMuchText` for the limit. @throws DomainError TOO_MANY_DRAFTS */
export function requireRoomForDraftText(
  present: number,
  added: readonly string[],
  removed: readonly string[] = [],
): void {
  if (!keepsTooMuchText(present, added, removed)) return;
  throw new DomainError('TOO_MANY_DRAFTS', `Too much text in drafts (limit: ${MAX_KEPT_TEXT_BYTES} bytes).`);
}

/** Lists drafts last edited first. */
export const DRAFT_ROWS: RowRules<keyof Draft> = {
  kind: 'draft',
  owner: 'user',
  order: ['-editedAt', '-id'],
  texts: ['content'],
};

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

declare module '../kernel/feature-types.js' {
  interface RepositoryMap {
    drafts: [reads: UserRowReads<Draft>, repository: UserRows<Draft>];
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

const editTime: shape.Shape<number> = (value, path) => {
  if (typeof value !== 'number' || !Number.isFinite(value)) throw shape.wrong(path, 'is not a time');
  return value;
};

const personPart: PersonPart<'drafts'> = {
  none: { drafts: [] },
  idKinds: ['draft'],
  shapes: {
    drafts: shape.list(
      shape.object({ id: shape.anyId, to: addressee, content: shape.content, editedAt: editTime }),
      100_000,
    ),
  },
  async read(reads, { realmId, userId }, { channelIds, userIds }) {
    const drafts = await reads.drafts.list(realmId, userId, MAX_DRAFTS);
    const isCovered = ({ to }: Draft) =>
      to.kind === 'channel'
        ? channelIds.has(to.channelId)
        : to.kind === 'nobody' || to.userIds.every((id) => userIds.has(id));
    return { drafts: byId(drafts.filter(isCovered)) };
  },
  idsOf: ({ drafts }) => ({ draft: drafts.map(({ id }) => id) }),
  async add(tx, owner, { drafts }, ids) {
    const addresseeOf = ({ to }: Draft): Draft['to'] => {
      if (to.kind === 'channel') return { ...to, channelId: ids.channels.get(to.channelId) };
      return to.kind === 'direct' ? { ...to, userIds: ids.users.list(to.userIds) } : to;
    };
    await ids.addAll(tx, 'draft', 'draft', drafts, (copy, reserved: DraftId | null) => {
      const { id: _, ...draft } = copy;
      const content = ids.rewriter.markdown(draft.content);
      return tx.drafts.add({ ...draft, ...owner, to: addresseeOf(copy), content }, reserved);
    });
  },
};

export const DRAFT_FEATURE = {
  eventFormats: {
    'draft.added': 1,
    'draft.changed': 1,
    'draft.removed': 1,
  },
  personPart: personPart,
  rows: { drafts: DRAFT_ROWS },
} satisfies FeatureParts<DraftEventTypes>;

export async function publishDrafts(
  tx: Transaction,
  { realmId, id }: Actor,
  event: EventOf<keyof DraftEventTypes>,
): Promise<void> {
  await tx.events.append(realmId, { event, audience: users([id]) });
}

/** Loads the viewer's drafts, last edited first (events §3.2). */
export const loadDrafts = ({ caller, repositories }: Snapshot): Promise<readonly Draft[]> =>
  repositories.drafts.list(caller.realmId, caller.userId, MAX_REGISTERED_DRAFTS);

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
    if (!readable.has(to[0]!)) enforce(unknownChannel);
    return { kind: 'channel', channelId: to[0] as ChannelId, topic: cutTopic(trim(topic)) };
  }
}

const invalid = (message: string) => new DomainError('INVALID_DRAFT', message);
