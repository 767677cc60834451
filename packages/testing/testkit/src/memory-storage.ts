import { EXPORT_ROWS, PERSON_EXPORT_ROWS } from '@parley/domain/exports';
import { CUSTOM_EMOJI_ROWS } from '@parley/domain/files';
import type {
  Clock,
  EncodedEvent,
  EncodedQueue,
  EventSeq,
  RealmId,
  Repositories,
  StoredEvent,
  Transaction,
  UnitOfWork,
  WriteOptions,
} from '@parley/domain/kernel';
import type { SearchWords } from '@parley/domain/markdown';
import { PLAIN_TEXTS } from '@parley/domain/messages';
import { DEVICE_ROWS } from '@parley/domain/push';
import { DRAFT_LIST, REMINDER_LIST, SCHEDULED_MESSAGE_LIST } from '@parley/domain/writing';
import { FixedClock } from './fixed-clock.js';
import { MemoryActors } from './memory/memory-actors.js';
import { MemoryAlertWords } from './memory/memory-alert-words.js';
import { MemoryApiKeys } from './memory/memory-api-keys.js';
import { MemoryAudit } from './memory/memory-audit.js';
import { MemoryBotStorage } from './memory/memory-bot-storage.js';
import { MemoryBots, MemoryBotTriggers } from './memory/memory-bots.js';
import { MemoryCallCounts } from './memory/memory-call-counts.js';
import { MemoryChannelAddresses } from './memory/memory-channel-addresses.js';
import { MemoryChannels } from './memory/memory-channels.js';
import { MemoryConfirmations } from './memory/memory-confirmations.js';
import { MemoryCopies } from './memory/memory-copies.js';
import { MemoryCustomEmoji } from './memory/memory-custom-emoji.js';
import { MemoryDataKeys } from './memory/memory-data-keys.js';
import { MemoryDevices } from './memory/memory-devices.js';
import { MemoryDrafts } from './memory/memory-drafts.js';
import { MemoryEventConsumers } from './memory/memory-event-consumers.js';
import { MemoryEventLog } from './memory/memory-event-log.js';
import { MemoryEventQueues } from './memory/memory-event-queues.js';
import { MemoryExports } from './memory/memory-exports.js';
import { MemoryExternalIds } from './memory/memory-external-ids.js';
import { MemoryFileTexts } from './memory/memory-file-texts.js';
import { MemoryFiles } from './memory/memory-files.js';
import { MemoryGroups } from './memory/memory-groups.js';
import { MemoryHeldMessages } from './memory/memory-held-messages.js';
import { MemoryHostData } from './memory/memory-host-data.js';
import { MemoryImportedRecords } from './memory/memory-imported-records.js';
import { MemoryBouncedAddresses, MemoryReplyAddresses } from './memory/memory-incoming-email.js';
import { MemoryInvitations } from './memory/memory-invitations.js';
import { MemoryJobs } from './memory/memory-jobs.js';
import { MemoryLeases } from './memory/memory-leases.js';
import { MemoryLogIns } from './memory/memory-log-ins.js';
import { MemoryMessageArchive } from './memory/memory-message-archive.js';
import { MemoryMessageEdits } from './memory/memory-message-edits.js';
import { MemoryMessageMoves } from './memory/memory-message-moves.js';
import { MemoryMessagePages } from './memory/memory-message-pages.js';
import { MemoryMessages } from './memory/memory-messages.js';
import { MemoryMissedEmails } from './memory/memory-missed-emails.js';
import { MemoryNotifications } from './memory/memory-notifications.js';
import { MemoryOnboarding } from './memory/memory-onboarding.js';
import { MemoryPersonExports } from './memory/memory-person-exports.js';
import { MemoryPersonalData } from './memory/memory-personal-data.js';
import { MemoryPersonalMessages } from './memory/memory-personal-messages.js';
import { MemoryPictures } from './memory/memory-pictures.js';
import { MemoryPresence } from './memory/memory-presence.js';
import { MemoryProfiles } from './memory/memory-profiles.js';
import { MemoryProvisioning } from './memory/memory-provisioning.js';
import { MemoryPushStatus, MemoryPushTokens } from './memory/memory-push-tokens.js';
import { MemoryReactions } from './memory/memory-reactions.js';
import { MemoryRealmData } from './memory/memory-realm-data.js';
import { MemoryRealms } from './memory/memory-realms.js';
import { MemoryRecipients } from './memory/memory-recipients.js';
import { rowsOf } from './memory/memory-rows.js';
import { MemoryScheduledMessages, MemorySchedulingRows } from './memory/memory-scheduling.js';
import { MemorySearchIndex } from './memory/memory-search-index.js';
import { MemorySecondFactors } from './memory/memory-second-factors.js';
import { MemorySentOnce } from './memory/memory-sent-once.js';
import { MemorySessions } from './memory/memory-sessions.js';
import { MemoryStatuses } from './memory/memory-statuses.js';
import { MemoryTopicPolicies } from './memory/memory-topic-policies.js';
import { MemoryTopics } from './memory/memory-topics.js';
import { MemoryUnfinishedUploads } from './memory/memory-unfinished-uploads.js';
import { MemoryUsers } from './memory/memory-users.js';
import { MemoryWebPush } from './memory/memory-web-push.js';
import { MemoryUnit, type StoredTables } from './memory/tables.js';

/** Overwrites stored rows with damaged content. */
export interface Damage {
  event(realmId: RealmId, seq: EventSeq, parts: Partial<EncodedEvent>): Promise<void>;
  queue(id: string, parts: Partial<Pick<EncodedQueue, 'filter' | 'presentation'>>): Promise<void>;
}

/**
 * Implements all domain ports with plain maps. A write copies the tables it changes and replaces the committed ones
 * on success. Exceptions leave no trace, and a read keeps its snapshot.
 */
export class MemoryStorage {
  /** All committed events, oldest first, unaffected by pruning and blanking. */
  readonly announced: StoredEvent[] = [];
  /** Number of successful writes. */
  commits = 0;

  /** True to never reuse the ids of a failed unit, like PostgreSQL sequences. */
  keepsUsedIds = false;

  private lastWrite: Promise<unknown> = Promise.resolve();

  /** `tables`: initial tables, such as the `contents` of another storage. */
  constructor(
    readonly clock: Clock = new FixedClock(),
    private readonly words: SearchWords = PLAIN_TEXTS,
    private tables: StoredTables = {},
  ) {}

  /** Snapshot of all committed data. */
  get contents(): StoredTables {
    return this.tables;
  }

  readonly uow: UnitOfWork = {
    read: (realmId, work) => this.read(realmId, work),
    readAcross: (work) => this.read(null, work),
    write: (realmId, work, options) => this.enqueue(realmId, work, options),
    writeAcross: (work, options) => this.enqueue(null, work, options),
  };

  /** Simulates damage from outside: a bug, a bad disk, a newer version. */
  readonly damage: Damage = {
    event: async (realmId, seq, parts) => {
      const events = new Map(this.tables.events);
      const rows = events.get(realmId) ?? [];
      events.set(
        realmId,
        rows.map((row) => (row.seq === seq ? { ...row, ...parts } : row)),
      );
      this.tables = { ...this.tables, events };
    },
    queue: async (id, parts) => {
      const queues = new Map(this.tables.queues);
      const row = queues.get(id);
      if (row) queues.set(id, { ...row, ...parts });
      this.tables = { ...this.tables, queues };
    },
  };

  private async read<T>(realmId: RealmId | null, work: (repositories: Repositories) => Promise<T>): Promise<T> {
    const unit = new MemoryUnit(this.tables, false, this.clock, this.words, realmId);
    try {
      return await withoutYielding(work(repositoriesOf(unit)));
    } finally {
      unit.end();
    }
  }

  private enqueue<T>(
    realmId: RealmId | null,
    work: (tx: Transaction) => Promise<T>,
    { onCommit }: WriteOptions = {},
  ): Promise<T> {
    const write = this.lastWrite.then(() => this.write(realmId, work, onCommit));
    this.lastWrite = write.catch(() => undefined);
    return write;
  }

  private async write<T>(
    realmId: RealmId | null,
    work: (tx: Transaction) => Promise<T>,
    onCommit: WriteOptions['onCommit'] = () => {},
  ): Promise<T> {
    const unit = new MemoryUnit(this.tables, true, this.clock, this.words, realmId);
    const { record } = unit;
    try {
      const result = await withoutYielding(work(repositoriesOf(unit)));
      this.tables = unit.result();
      this.announced.push(...record.events);
      this.commits++;
      onCommit(record);
      return result;
    } catch (error) {
      record.rollBack();
      if (this.keepsUsedIds) this.tables = { ...this.tables, counters: withIdsOf(unit, this.tables.counters) };
      throw error;
    } finally {
      unit.end();
    }
  }
}

/** Id counters have plain names; other counters, such as ordinals per recipient, have composite names. */
const withIdsOf = (unit: MemoryUnit, counters: ReadonlyMap<string, number> = new Map()): Map<string, number> =>
  new Map([...counters, ...[...unit.read('counters')].filter(([name]) => !name.includes(':'))]);

/**
 * Repositories of a unit; accessing rows of an organization other than the unit's fails. The check is skipped while the
 * storage holds only one organization, because it takes a quarter of the time of many tests.
 */
function repositoriesOf(unit: MemoryUnit): Transaction {
  const repositories = allRepositoriesOf(unit);
  const { realmId } = unit;
  if (realmId === null) return repositories;
  const realms = unit.read('realms');
  if (realms.size === 1 && realms.has(realmId)) return repositories;
  const guarded = new Map<unknown, object>();
  return new Proxy(repositories, {
    get(target, name) {
      const repository: unknown = Reflect.get(target, name);
      if (typeof repository !== 'object' || repository === null) return repository;
      const guard = guarded.get(repository) ?? ofRealm(realmId, repository);
      guarded.set(repository, guard);
      return guard;
    },
  });
}

function ofRealm(realmId: RealmId, repository: object): object {
  return new Proxy(repository, {
    get(target, name) {
      const method: unknown = Reflect.get(target, name);
      // Spies replace methods by object properties.
      if (typeof method !== 'function' || Object.hasOwn(target, name)) return method;
      return async (...parameters: unknown[]) => {
        requireRealm(realmId, parameters);
        const result: unknown = await method.apply(target, parameters);
        requireRealm(realmId, result);
        return result;
      };
    },
  });
}

function requireRealm(realmId: RealmId, value: unknown): void {
  if (typeof value !== 'object' || value === null) return;
  if (Array.isArray(value) || value instanceof Map) {
    for (const each of value.values()) requireRealm(realmId, each);
  } else if ('realmId' in value && value.realmId !== realmId) {
    throw new Error(`A unit of realm ${realmId} accessed a row of realm ${value.realmId}`);
  }
}

function allRepositoriesOf(unit: MemoryUnit) {
  return {
    ...rowsOf(unit),
    realms: new MemoryRealms(unit),
    personalData: new MemoryPersonalData(unit),
    realmData: new MemoryRealmData(unit),
    copies: new MemoryCopies(unit),
    exports: new MemoryExports(unit, EXPORT_ROWS),
    personExports: new MemoryPersonExports(unit, PERSON_EXPORT_ROWS),
    importedRecords: new MemoryImportedRecords(unit),
    audit: new MemoryAudit(unit),
    users: new MemoryUsers(unit),
    actors: new MemoryActors(unit),
    groups: new MemoryGroups(unit),
    channels: new MemoryChannels(unit),
    channelAddresses: new MemoryChannelAddresses(unit),
    topicPolicies: new MemoryTopicPolicies(unit),
    recipients: new MemoryRecipients(unit),
    messages: new MemoryMessages(unit),
    pages: new MemoryMessagePages(unit),
    topics: new MemoryTopics(unit),
    moves: new MemoryMessageMoves(unit),
    edits: new MemoryMessageEdits(unit),
    archive: new MemoryMessageArchive(unit),
    heldMessages: new MemoryHeldMessages(unit),
    personal: new MemoryPersonalMessages(unit),
    reactions: new MemoryReactions(unit),
    bots: new MemoryBots(unit),
    botTriggers: new MemoryBotTriggers(unit),
    profiles: new MemoryProfiles(unit),
    searchIndex: new MemorySearchIndex(),
    botStorage: new MemoryBotStorage(unit),
    presence: new MemoryPresence(unit),
    statuses: new MemoryStatuses(unit),
    devices: new MemoryDevices(unit, DEVICE_ROWS),
    pushTokens: new MemoryPushTokens(unit),
    pushStatus: new MemoryPushStatus(unit),
    webPush: new MemoryWebPush(unit),
    notifications: new MemoryNotifications(unit),
    missedEmails: new MemoryMissedEmails(unit),
    replyAddresses: new MemoryReplyAddresses(unit),
    bouncedAddresses: new MemoryBouncedAddresses(unit),
    sentOnce: new MemorySentOnce(unit),
    drafts: new MemoryDrafts(unit, DRAFT_LIST.rows),
    scheduledMessages: new MemoryScheduledMessages(unit, SCHEDULED_MESSAGE_LIST.rows),
    reminders: new MemorySchedulingRows(unit, REMINDER_LIST.rows),
    alertWords: new MemoryAlertWords(unit),
    files: new MemoryFiles(unit),
    fileTexts: new MemoryFileTexts(unit),
    unfinishedUploads: new MemoryUnfinishedUploads(unit),
    pictures: new MemoryPictures(unit),
    customEmoji: new MemoryCustomEmoji(unit, CUSTOM_EMOJI_ROWS),
    onboarding: new MemoryOnboarding(unit),
    events: new MemoryEventLog(unit, new MemoryMessagePages(unit)),
    queues: new MemoryEventQueues(unit),
    consumers: new MemoryEventConsumers(unit),
    hostData: new MemoryHostData(unit),
    dataKeys: new MemoryDataKeys(unit),
    externalIds: new MemoryExternalIds(new MemoryUsers(unit)),
    logIns: new MemoryLogIns(unit),
    provisioning: new MemoryProvisioning(unit),
    secondFactors: new MemorySecondFactors(unit),
    apiKeys: new MemoryApiKeys(unit),
    sessions: new MemorySessions(unit),
    invitations: new MemoryInvitations(unit),
    confirmations: new MemoryConfirmations(unit),
    callCounts: new MemoryCallCounts(unit),
    jobs: new MemoryJobs(unit),
    leases: new MemoryLeases(unit),
    onRollback: (undo: () => void) => unit.record.onRollback(undo),
  } satisfies Transaction;
}

/** Rejects work that yields to the event loop, that is, awaits anything except memory. */
async function withoutYielding<T>(work: Promise<T>): Promise<T> {
  let turn: NodeJS.Immediate | undefined;
  const yielded = new Promise<never>((_, reject) => {
    turn = setImmediate(() => reject(new Error('A unit of work awaited something that is not its own repositories')));
  });
  work.catch(() => undefined); // it may still fail after the rejection
  try {
    return await Promise.race([work, yielded]);
  } finally {
    clearImmediate(turn);
  }
}
