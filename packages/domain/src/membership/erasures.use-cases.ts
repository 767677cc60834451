import type { Mailer } from '../access/email.js';
import { UnneededFiles } from '../files/files.use-cases.js';
import type { ErasureRecord } from '../kernel/administration.js';
import { nobody } from '../kernel/event.js';
import type { RealmId, UnixSeconds, UserId } from '../kernel/ids.js';
import type { Job, JobHandler, JobWork } from '../kernel/jobs.js';
import type { Clock } from '../kernel/ports.js';
import { settingValues } from '../kernel/settings.js';
import type { Repositories, Transaction, UnitOfWork } from '../kernel/unit-of-work.js';
import { ENTITIES_PER_PAGE, lastOf } from '../kernel/work.js';
import { removePushTokens } from '../push/push-jobs.js';
import type { Realm } from '../realms/realm.js';
import { USER_SETTINGS } from '../realms/user-settings.js';
import { changeEmail } from '../users/change-email.js';
import type { User } from '../users/user.js';
import { isOnlyOwnerOf } from '../users/user-permissions.js';
import { MAX_DELETED_AT_ONCE } from '../writing/deletion.js';
import { removeSomeReactions } from '../writing/reactions.js';
import { DELETED_MESSAGE_JOB } from '../writing/reminders.js';
import { deleteSomeMessages, MESSAGE_SCOPES, newestOf } from './contribution-deletion.js';
import { type Deletions, deactivateWithBots, MAX_BOTS_AT_ONCE, withoutProfile } from './deactivation.js';
import { replaceDescriptions, replaceInProfiles } from './erased-descriptions.js';
import { isAnswerOf, replacedEvent, replaceInSentMessages } from './erased-events.js';
import { erasedEmail, type FormerIdentity, isErased, mentionRemoval } from './erased-person.js';
import {
  ERASE_PERSON_JOB,
  ERASURE_STAGES,
  type Erasure,
  type ErasureLedger,
  type ErasurePayload,
  type ErasureProgress,
  type PersonalReports,
  planErasure,
  requireErasable,
} from './erasures.js';
import { getHostUser, type HostUserReference, removeExternalId } from './host-users.js';
import { linkVisit, otherAccountsOf } from './merged-accounts.js';
import { isPlaceholder } from './placeholders.js';

export interface ErasureRequest {
  readonly realmId: RealmId;
  readonly user: HostUserReference;
  /** Deletes the messages of the person too, for good. */
  readonly everythingWritten: boolean;
}

/**
 * Erases a person on behalf of the operator: the identity at once, everything else in a job. Messages stay, with the
 * author “Deleted user”, or are deleted. The address and external id may be used by others immediately.
 */
export class EraseUser {
  static readonly inject = ['unitOfWork', 'erasureLedger', 'clock'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly ledger: ErasureLedger,
    private readonly clock: Clock,
  ) {}

  /**
   * Returns the erasure; the former one if the person is erased already. Then it only adds the deletion of messages.
   * @throws DomainError UNKNOWN_USER, MUST_NOT_BE_BOT, USER_MERGED, LAST_OWNER
   */
  async execute({ realmId, user: by, everythingWritten }: ErasureRequest): Promise<Erasure> {
    const { erasure, entry } = await this.uow.write(realmId, async (tx) => {
      const user = await getHostUser(tx, realmId, by);
      await requireErasable(tx, user);
      return eraseWithEntry(tx, user, { requestedAt: this.clock.now(), everythingWritten });
    });
    await this.ledger.add([entry]);
    return erasure;
  }
}

/** Erases a person. The caller adds the entry to the ledger after the commit. */
export async function eraseWithEntry(
  tx: Transaction,
  user: User,
  request: Request,
): Promise<{ readonly erasure: Erasure; readonly entry: ErasureRecord }> {
  const { erasure } = await startErasure(tx, user, request);
  return { erasure, entry: entryOf(await tx.realms.get(user.realmId), erasure) };
}

const entryOf = (
  { id, uuid }: Realm,
  { personId, requestedAt, everythingWritten }: Pick<Erasure, 'personId' | 'requestedAt' | 'everythingWritten'>,
): ErasureRecord => ({ realmId: id, realmUuid: uuid, personId, requestedAt, everythingWritten });

/** Adds all erasures of the database to the ledger, which may be lost or older. */
export class CopyErasuresToLedger {
  static readonly inject = ['unitOfWork', 'erasureLedger'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly ledger: ErasureLedger,
  ) {}

  async execute(): Promise<void> {
    for (const realm of await this.uow.readAcross(({ realms }) => realms.list())) {
      const erasures = await this.uow.read(realm.id, (reads) => reads.erasures.list(realm.id));
      await this.ledger.add(erasures.map((erasure) => entryOf(realm, erasure)));
    }
  }
}

export interface ReplayedErasures {
  /** Erasures that were repeated. */
  readonly repeated: readonly ErasureRecord[];
  /** Organizations that lost their last owner. */
  readonly withoutOwner: readonly Realm[];
}

/**
 * Repeats erasures in a database that is older than the erasures. Unknown people, and accounts that were created after
 * the erasure under the same id, stay unchanged. Repeatable.
 */
export class ReplayErasures {
  static readonly inject = ['unitOfWork', 'erasureLedger', 'clock'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly ledger: ErasureLedger,
    private readonly clock: Clock,
  ) {}

  async execute(entries: readonly ErasureRecord[]): Promise<ReplayedErasures> {
    const realms = new Map(
      (await this.uow.readAcross((reads) => reads.realms.list())).map((realm) => [realm.id, realm]),
    );
    const repeated: ErasureRecord[] = [];
    const withoutOwner = new Set<Realm>();
    for (const entry of [...entries].sort((a, b) => a.requestedAt - b.requestedAt)) {
      const realm = realms.get(entry.realmId);
      if (realm?.uuid !== entry.realmUuid) continue;
      await this.uow.write(realm.id, async (tx) => {
        const user = await tx.users.find(realm.id, entry.personId);
        if (!user || user.bot || user.joinedAt > entry.requestedAt) return;
        if (user.role === 'owner' && user.isActive && (await isOnlyOwnerOf(tx, realm.id, user.id))) {
          withoutOwner.add(realm);
        }
        const { hasChanged } = await startErasure(tx, user, { ...entry, dueAt: this.clock.now() });
        if (hasChanged) repeated.push(entry);
      });
    }
    await this.ledger.add(repeated);
    return { repeated, withoutOwner: [...withoutOwner] };
  }
}

const profileOf = (byId: UserId): Deletions => ({ byId, ofProfile: true, ofMessages: [] });

const identityOf = ({ id, fullName, email, externalId }: User): FormerIdentity => ({
  id,
  fullName,
  email,
  externalId: externalId ?? null,
});

interface Request extends Pick<Erasure, 'requestedAt' | 'everythingWritten'> {
  /** Default: the time of the request, which may be in the future of this server if another one had it. */
  readonly dueAt?: UnixSeconds;
}

interface StartedErasure {
  readonly erasure: Erasure;
  readonly hasChanged: boolean;
}

/**
 * Erases a person with their other accounts, or adds the deletion of messages to a former erasure. Otherwise changes
 * nothing.
 */
export async function startErasure(tx: Transaction, user: User, request: Request): Promise<StartedErasure> {
  // The identity leads to them.
  const others = await otherAccountsOf(tx, user);
  const started = await startOne(tx, user, request);
  if (!started.hasChanged) return started;
  for (const other of others) {
    // A later request to erase everything written must find placeholders without the identity.
    if (isPlaceholder(other)) await linkVisit(tx, other, user.id);
    await startErasure(tx, other, request);
  }
  return started;
}

async function startOne(tx: Transaction, user: User, request: Request): Promise<StartedErasure> {
  const former = await findErasure(tx, user);
  if (!former) return { erasure: await begin(tx, user, request), hasChanged: true };
  if (former.everythingWritten || !request.everythingWritten) return { erasure: former, hasChanged: false };
  const { requestedAt, dueAt = requestedAt } = request;
  const erasure = { ...former, everythingWritten: true, requestedAt, endedAt: null };
  await tx.erasures.update(erasure);
  // The job of an unfinished erasure continues with the messages.
  if (former.endedAt !== null) await planMessages(tx, erasure, identityOf(user), dueAt);
  return { erasure, hasChanged: true };
}

const planMessages = (tx: Transaction, { id, realmId }: Erasure, former: FormerIdentity, dueAt: UnixSeconds) =>
  planErasure(tx, realmId, { erasureId: id, former, everythingWritten: true, stage: 'messages', at: null }, dueAt);

/** Removes the identity of a person and schedules the rest. */
async function begin(
  tx: Transaction,
  user: User,
  { requestedAt, everythingWritten, dueAt = requestedAt }: Request,
): Promise<Erasure> {
  const { realmId, id: userId } = user;
  if (user.isActive) {
    await deactivateWithBots(tx, await tx.realms.get(realmId), user, dueAt, profileOf(userId));
  } else await tx.users.update(await withoutProfile(tx, user));
  await removePushTokens(tx, realmId, userId, dueAt);
  await removeIdentity(tx, await tx.users.get(realmId, userId));
  const erasure = await tx.erasures.add({
    realmId,
    personId: userId,
    requestedAt,
    endedAt: null,
    removedRows: 0,
    changedTexts: 0,
    everythingWritten,
    heldTexts: 0,
  });
  const payload = {
    erasureId: erasure.id,
    former: identityOf(user),
    everythingWritten,
    stage: 'rows',
    at: null,
  } as const;
  await planErasure(tx, realmId, payload, dueAt);
  return erasure;
}

/** Returns the erasure of a user who is erased, unless it was lost with an export. */
export async function findErasure(tx: Repositories, user: User): Promise<Erasure | undefined> {
  if (!isErased(user)) return undefined;
  return (await tx.erasures.list(user.realmId)).findLast(({ personId }) => personId === user.id);
}

async function removeIdentity(tx: Transaction, user: User): Promise<void> {
  const { realmId, id } = user;
  await removeExternalId(tx, user);
  await tx.users.setPasswordHash(realmId, id, null);
  await tx.provisioning.setUserRemoved(realmId, id, true);
  const { externalId: _, ...stored } = await tx.users.get(realmId, id);
  const nothing = { settings: settingValues(USER_SETTINGS, {}), editedSettings: [], specialPermissions: [] } as const;
  await changeEmail(tx, { ...stored, ...nothing }, erasedEmail(id));
}

/** Time after which the job is rescheduled with its progress. */
const MAX_RUN_MS = 1000;
/** Time until a job that failed repeatedly starts again. */
const RETRY_SECONDS = 3600;
/** Time until reminders are examined again. */
const REMINDERS_SECONDS = 5;
// Small, because each step delays sends (docs/performance.md).
const EVENTS_PER_STEP = 25;
const MESSAGES_PER_STEP = 5;
const COPIES_PER_STEP = 25;
const FILES_PER_STEP = 50;

/** Payload at one of these stages. */
type At<Stage> = Extract<ErasurePayload, { readonly stage: Stage }>;

interface Step {
  readonly next: ErasureProgress | null;
  readonly counts: Partial<Pick<Erasure, 'removedRows' | 'changedTexts' | 'heldTexts'>>;
}

/** Erases what is left of a person, in units of work that may be repeated. */
export class ErasePerson implements JobHandler<ErasurePayload> {
  static readonly inject = ['unitOfWork', UnneededFiles, 'clock', 'mailer', 'importReports'] as const;

  readonly kind = ERASE_PERSON_JOB;

  constructor(
    private readonly uow: UnitOfWork,
    private readonly files: UnneededFiles,
    private readonly clock: Clock,
    private readonly mailer: Mailer,
    private readonly reports: PersonalReports,
  ) {}

  async prepare({ realmId, payload }: Job<ErasurePayload>): Promise<JobWork> {
    if (payload.stage === 'files' && payload.everythingWritten && (await this.areReminded())) {
      return (tx) => planErasure(tx, realmId, payload, this.clock.now() + REMINDERS_SECONDS);
    }
    if (payload.isWaiting) return (tx) => this.continueAfterRelease(tx, realmId, payload);
    const until = this.clock.nowMs() + MAX_RUN_MS;
    let progress: ErasureProgress | null = payload;
    let { heldTexts = 0 } = payload;
    do {
      const step: Step = await this.step(realmId, { ...payload, ...progress });
      progress = step.next;
      heldTexts += step.counts.heldTexts ?? 0;
    } while (progress?.stage === payload.stage && this.clock.nowMs() < until);
    const rest = progress;
    return async (tx) => {
      const now = this.clock.now();
      if (rest !== null) return planErasure(tx, realmId, { ...payload, ...rest, heldTexts }, now);
      const erasure = await tx.erasures.find(realmId, payload.erasureId);
      if (!erasure) return;
      // Requested while the job ran.
      const hasMore = erasure.everythingWritten && !payload.everythingWritten;
      if (hasMore) return planMessages(tx, erasure, payload.former, now);
      await tx.erasures.update({ ...erasure, endedAt: heldTexts > 0 ? null : now, heldTexts });
      if (heldTexts > 0) await planErasure(tx, realmId, { ...payload, isWaiting: true }, now + RETRY_SECONDS);
    };
  }

  /** Starts another pass if a hold was released since the beginning of the former one. */
  private async continueAfterRelease(tx: Transaction, realmId: RealmId, payload: ErasurePayload): Promise<void> {
    const now = this.clock.now();
    const erasure = await tx.erasures.find(realmId, payload.erasureId);
    if (!erasure) return;
    const since = payload.passedSince ?? erasure.requestedAt;
    const isReleased = (await tx.holds.list(realmId)).some(({ releasedAt }) => (releasedAt ?? 0) >= since);
    const { everythingWritten } = erasure;
    if (!isReleased && everythingWritten === (payload.everythingWritten ?? false)) {
      await planErasure(tx, realmId, payload, now + RETRY_SECONDS);
      return;
    }
    const { erasureId, former } = payload;
    const pass = { erasureId, former, everythingWritten, passedSince: now };
    await planErasure(tx, realmId, { ...pass, stage: everythingWritten ? 'messages' : 'files', at: null }, now);
  }

  /** Starts again later, since the job is the last place that knows the identity. */
  async giveUp(tx: Transaction, { realmId, payload }: Job<ErasurePayload>): Promise<void> {
    await planErasure(tx, realmId, payload, this.clock.now() + RETRY_SECONDS);
  }

  private async step(realmId: RealmId, payload: ErasurePayload): Promise<Step> {
    if (payload.stage === 'files') return { next: await this.removeFiles(realmId, payload), counts: {} };
    if (payload.stage === 'held') return this.uow.read(realmId, (reads) => findHeld(reads, realmId, payload));
    return this.uow.write(
      realmId,
      async (tx) => {
        const step = await stepOf(tx, realmId, payload, this.clock.now());
        const erasure = await tx.erasures.find(realmId, payload.erasureId);
        const { removedRows = 0, changedTexts = 0 } = step.counts;
        if (erasure && removedRows + changedTexts > 0) {
          await tx.erasures.update({
            ...erasure,
            removedRows: erasure.removedRows + removedRows,
            changedTexts: erasure.changedTexts + changedTexts,
          });
        }
        return step;
      },
      { yields: true },
    );
  }

  /** True while reminders may quote deleted messages and need their files. */
  private async areReminded(): Promise<boolean> {
    const { name, format } = DELETED_MESSAGE_JOB;
    return (await this.uow.readAcross(({ jobs }) => jobs.nextDueAt({ kind: name, maxFormat: format }))) !== null;
  }

  /** Removes files without messages, emails to the person, and reports. */
  private async removeFiles(realmId: RealmId, payload: At<'files'>): Promise<ErasureProgress | null> {
    const { former, at } = payload;
    if (at === null) {
      await this.mailer.removeTo?.(former.email);
      await this.reports.remove(this.uow, realmId);
    }
    const after = at ?? 0;
    const page = await this.uow.read(realmId, ({ files }) => files.list(realmId, former.id, after, FILES_PER_STEP));
    const unneeded = page.filter(({ messageIds }) => messageIds.length === 0).map(({ id }) => id);
    await this.files.remove(this.uow, realmId, unneeded);
    return page.length < FILES_PER_STEP ? following(payload) : { stage: 'files', at: page.at(-1)!.id };
  }
}

function stepOf(
  tx: Transaction,
  realmId: RealmId,
  payload: Exclude<ErasurePayload, { readonly stage: 'files' | 'held' }>,
  now: UnixSeconds,
): Promise<Step> {
  switch (payload.stage) {
    case 'rows':
      return removeRows(tx, realmId, payload);
    case 'bots':
      return removeBots(tx, realmId, payload, now);
    case 'descriptions':
      return replaceInDescriptions(tx, realmId, payload);
    case 'events':
      return replaceEvents(tx, realmId, payload);
    case 'texts':
      return replaceTexts(tx, realmId, payload);
    case 'messages':
      return removeMessages(tx, realmId, payload, now);
    case 'copies':
      return removeCopies(tx, realmId, payload);
    case 'reactions':
      return removeReactions(tx, realmId, payload);
    case 'answers':
      return removeAnswers(tx, realmId, payload);
  }
}

const STAGES_OF_WRITTEN: ReadonlySet<ErasurePayload['stage']> = new Set(['messages', 'copies', 'reactions', 'answers']);

/** Returns the beginning of the next stage; null after the last one. */
function following({ stage, everythingWritten }: ErasurePayload): ErasureProgress | null {
  const stages = ERASURE_STAGES.filter((each) => everythingWritten || !STAGES_OF_WRITTEN.has(each));
  const next = stages[stages.indexOf(stage) + 1];
  return next === undefined ? null : { stage: next, at: null };
}

async function removeRows(tx: Transaction, realmId: RealmId, payload: At<'rows'>): Promise<Step> {
  const { former, at } = payload;
  const { count, next } = await tx.personalData.removeSome(realmId, former, at, ENTITIES_PER_PAGE);
  return { next: next ? { stage: 'rows', at: next } : following(payload), counts: { removedRows: count } };
}

/** Deactivates the bots of the person, and removes their names and addresses, which may contain those of the person. */
async function removeBots(tx: Transaction, realmId: RealmId, payload: At<'bots'>, now: UnixSeconds): Promise<Step> {
  const { id } = payload.former;
  const bots = await tx.users.list(realmId, await tx.bots.listOwnedIds(realmId, id));
  const rest = bots.filter((bot) => !isErased(bot));
  for (const bot of rest.slice(0, MAX_BOTS_AT_ONCE)) {
    if (bot.isActive) await deactivateWithBots(tx, await tx.realms.get(realmId), bot, now, profileOf(id));
    else await tx.users.update(await withoutProfile(tx, bot));
    await removeIdentity(tx, await tx.users.get(realmId, bot.id));
  }
  return { next: rest.length > MAX_BOTS_AT_ONCE ? { stage: 'bots', at: null } : following(payload), counts: {} };
}

async function replaceInDescriptions(tx: Transaction, realmId: RealmId, payload: At<'descriptions'>): Promise<Step> {
  const { former, at } = payload;
  const removal = mentionRemoval(former);
  const first = at === null ? await replaceDescriptions(tx, realmId, removal) : 0;
  const { count, next } = await replaceInProfiles(tx, realmId, removal, at ?? 0);
  const counts = { changedTexts: first + count };
  return { next: next === null ? following(payload) : { stage: 'descriptions', at: next }, counts };
}

async function replaceTexts(tx: Transaction, realmId: RealmId, payload: At<'texts'>): Promise<Step> {
  const { former, at } = payload;
  const removal = mentionRemoval(former);
  const { count, held, next } = await tx.personalData.replaceSome(realmId, removal, at, ENTITIES_PER_PAGE);
  const counts = { changedTexts: count, heldTexts: held };
  return { next: next ? { stage: 'texts', at: next } : following(payload), counts };
}

async function removeMessages(
  tx: Transaction,
  realmId: RealmId,
  payload: At<'messages'>,
  now: UnixSeconds,
): Promise<Step> {
  const { id } = payload.former;
  const deletion = { userId: id, byId: id, places: MESSAGE_SCOPES, upTo: payload.at };
  const { count, next } = await deleteSomeMessages(tx, realmId, deletion, now, MESSAGES_PER_STEP);
  return { next: next === null ? following(payload) : { stage: 'messages', at: next }, counts: { removedRows: count } };
}

/** Removes the copies from which administrators could restore messages. */
async function removeCopies(tx: Transaction, realmId: RealmId, payload: At<'copies'>): Promise<Step> {
  const { former, at } = payload;
  const { count, held, next } = await tx.archive.purgeOfSender(realmId, former.id, at ?? 0, COPIES_PER_STEP);
  const counts = { removedRows: count, heldTexts: held };
  return { next: next === null ? following(payload) : { stage: 'copies', at: next }, counts };
}

/** Finds held messages of the person, 100 in each step. */
async function findHeld(reads: Repositories, realmId: RealmId, payload: At<'held'>): Promise<Step> {
  const holds = await reads.holds.list(realmId);
  if (holds.every(({ releasedAt }) => releasedAt !== null)) return { next: following(payload), counts: {} };
  const sent = { userId: payload.former.id, places: MESSAGE_SCOPES, upTo: payload.at };
  const { ids, next } = await newestOf(reads, realmId, sent, MAX_DELETED_AT_ONCE);
  const held = await reads.heldMessages.filter(realmId, ids);
  return {
    next: next === null ? following(payload) : { stage: 'held', at: next },
    counts: { heldTexts: held.length },
  };
}

async function removeReactions(tx: Transaction, realmId: RealmId, payload: At<'reactions'>): Promise<Step> {
  const user = { realmId, id: payload.former.id };
  const { count, next } = await removeSomeReactions(tx, user, payload.at ?? 0, ENTITIES_PER_PAGE);
  return {
    next: next === null ? following(payload) : { stage: 'reactions', at: next },
    counts: { removedRows: count },
  };
}

/** Removes votes, and entries in polls and to-do lists of others. */
async function removeAnswers(tx: Transaction, realmId: RealmId, payload: At<'answers'>): Promise<Step> {
  const { former, at } = payload;
  const answers = await tx.messages.listSubmessagesOf(realmId, former.id, at ?? 0, ENTITIES_PER_PAGE);
  await tx.messages.removeSubmessages(realmId, answers);
  const hasMore = answers.length === ENTITIES_PER_PAGE;
  return {
    next: hasMore ? { stage: 'answers', at: lastOf(answers).id } : following(payload),
    counts: { removedRows: answers.length },
  };
}

/**
 * Replaces the identity and mentions in events. Events of sent messages contain the length of the text, so the messages
 * are changed in the same unit.
 */
async function replaceEvents(tx: Transaction, realmId: RealmId, payload: At<'events'>): Promise<Step> {
  const { former, at } = payload;
  const rows = await tx.events.listRows(realmId, at ?? 0, EVENTS_PER_STEP);
  const user = await tx.users.get(realmId, former.id);
  const lengths = await replaceInSentMessages(tx, realmId, former, rows);
  let texts = 0;
  for (const row of rows) {
    const replaced = replacedEvent(row, former, user, lengths);
    const isRemoved = payload.everythingWritten && isAnswerOf(replaced, former.id);
    const stored = isRemoved ? null : replaced;
    if (stored === row.payload) continue;
    texts++;
    await tx.events.replace(realmId, row.seq, stored);
  }
  // Other servers and waiting queues read the log again.
  if (texts > 0) await tx.events.append(realmId, { event: { type: 'blanked', messageIds: [] }, audience: nobody });
  const next = rows.length < EVENTS_PER_STEP ? following(payload) : { stage: 'events' as const, at: rows.at(-1)!.seq };
  return { next, counts: { changedTexts: texts } };
}
