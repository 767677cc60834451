import { AsyncLocalStorage } from 'node:async_hooks';
import {
  type Clock,
  type DomainEvent,
  isReadable,
  type Randomness,
  type ReadOptions,
  type RealmId,
  type Repositories,
  type Transaction,
  type UnitOfWork,
  type UserId,
  type WriteOptions,
} from '@parley/domain/kernel';
import { type AuditDetail, type AuditFacts, recordAudit } from '@parley/domain/membership';
import type { ContentDigest } from '@parley/domain/writing';
import { type AuditedChanges, type AuditedOperation, type AuditedState, changesBetween } from '@parley/http';

/** Object of an operation, as stored. */
export interface AuditedObject {
  /** User whom the operation concerns. */
  readonly subject: { readonly id: UserId; readonly fullName: string } | null;
  /** Null for an object that does not exist or is not described. */
  readonly state: AuditedState | null;
}

export type ReadObject = (repositories: Repositories, realmId: RealmId) => Promise<AuditedObject>;

/** Operation of any caller. */
export interface RecordedOperation extends Omit<AuditedOperation, 'path' | 'reads'> {
  readonly read: ReadObject;
  /** Organization with data that the operation reveals without a unit that writes. */
  readonly reads?: RealmId | undefined;
  /** Further facts for the target, without personal data. */
  readonly about?: Readonly<Record<string, unknown>>;
  /** True to record only changes of the object; without an object, units with events. */
  readonly isOptional?: boolean;
}

/** Operation in progress. */
interface Running {
  readonly operation: RecordedOperation;
  /** Organizations with an entry of the operation. */
  readonly recordedIn: Set<RealmId>;
  /** Work that outlives the operation, such as a job, is not part of it. */
  hasEnded: boolean;
}

export const NO_OBJECT: ReadObject = async () => ({ subject: null, state: null });

/** Operation of the embedding application. */
export const byApplication = (action: string, read: ReadObject = NO_OBJECT): RecordedOperation => ({
  ...{ action, actorId: null, program: 'application', target: {}, read },
});

/** Synchronization of a directory, which is recorded if it changes people. */
export const directorySync = (programName: string): RecordedOperation => ({
  ...{ action: 'directory sync', actorId: null, program: 'directory', programName, target: {}, read: NO_OBJECT },
  isOptional: true,
});

export interface AuditOptions {
  readonly digest: ContentDigest;
  readonly clock: Clock;
  readonly randomness: Pick<Randomness, 'uuid'>;
  /** True to record names and personal properties, which an erasure deletes. */
  readonly keepsNames: boolean;
}

/** Names and addresses, which only details contain. Channels and groups may be named after people. */
const PERSONAL: ReadonlySet<string> = new Set(['email', 'fullName', 'name']);
/** Maximum number of events that one unit's entry describes. */
const MAX_EVENTS = 20;
const MAX_EVENT_BYTES = 100_000;
/** Longer values are omitted, and longer lists cut. */
const MAX_VALUE_LENGTH = 1000;
const MAX_LISTED_IDS = 100;

/**
 * Unit of work that records operations in the audit log: in the first unit that an operation writes in an organization,
 * and in later ones that change its object. Units outside of operations cost nothing.
 */
export class AuditTrail implements UnitOfWork {
  private readonly scope = new AsyncLocalStorage<Running>();
  private runningOperations = 0;

  constructor(
    private readonly inner: UnitOfWork,
    private readonly options: AuditOptions,
  ) {}

  /** Runs an operation and records its units of work. */
  async run<T>(operation: RecordedOperation, work: () => Promise<T>): Promise<T> {
    const running: Running = { operation, recordedIn: new Set(), hasEnded: false };
    this.runningOperations++;
    try {
      return await this.scope.run(running, async () => {
        const result = await work();
        const { reads } = operation;
        if (reads !== undefined && !running.recordedIn.has(reads)) await this.write(reads, async () => {});
        return result;
      });
    } finally {
      this.end(running);
    }
  }

  private end(running: Running): void {
    if (running.hasEnded) return;
    running.hasEnded = true;
    // Promises cost more while a storage is enabled (before Node 24).
    if (--this.runningOperations === 0) this.scope.disable();
  }

  read<T>(realmId: RealmId, work: (repositories: Repositories) => Promise<T>, options?: ReadOptions): Promise<T> {
    return this.inner.read(realmId, work, options);
  }

  readAcross<T>(work: (repositories: Repositories) => Promise<T>): Promise<T> {
    return this.inner.readAcross(work);
  }

  write<T>(realmId: RealmId, work: (tx: Transaction) => Promise<T>, options?: WriteOptions): Promise<T> {
    const running = this.scope.getStore();
    // A shared unit must not wait for the chain of the organization.
    if (!running || running.hasEnded || options?.shared) return this.inner.write(realmId, work, options);
    let isRecorded = false;
    const recorded = async (tx: Transaction): Promise<T> => {
      const unit = await this.begin(running, realmId, tx);
      const result = await work(tx);
      isRecorded = await unit.record();
      return result;
    };
    return this.inner.write(realmId, recorded, {
      ...options,
      onCommit: (changes) => {
        if (isRecorded) running.recordedIn.add(realmId);
        // A long operation without an object, such as an import, has one entry.
        if (isRecorded && running.operation.read === NO_OBJECT && !running.operation.isOptional) this.end(running);
        options?.onCommit?.(changes);
      },
    });
  }

  writeAcross<T>(work: (tx: Transaction) => Promise<T>, options?: WriteOptions): Promise<T> {
    return this.inner.writeAcross(work, options);
  }

  /** Reads the object before a unit. */
  private async begin({ operation, recordedIn }: Running, realmId: RealmId, tx: Transaction) {
    const before = await operation.read(tx, realmId);
    const isByEvents = operation.isOptional === true && operation.read === NO_OBJECT;
    const isDue = !operation.isOptional && !recordedIn.has(realmId);
    // The changes of an existing object say enough.
    const isDescribed = before.state !== null && !changesMembers(operation);
    const lastSeq = (isDue && !isDescribed) || isByEvents ? await tx.events.lastSeq(realmId) : null;
    /** Adds an entry if the unit is to have one. Returns true if it has. */
    const record = async (): Promise<boolean> => {
      const after = await operation.read(tx, realmId);
      const changes = changesBetween(before.state, after.state);
      const isChanged = Object.keys(changes).length > 0 || (before.state === null && after.state !== null);
      if (!isChanged && !isDue && !isByEvents) return false;
      const logged = lastSeq === null ? [] : await tx.events.listAfter(realmId, lastSeq, MAX_EVENTS, MAX_EVENT_BYTES);
      const events = logged.filter(isReadable).map(({ event }) => event);
      if (!isChanged && !isDue && events.length === 0) return false;
      const subject = before.subject ?? after.subject;
      const entry = await this.entryOf(tx, realmId, { operation, subject, changes, events });
      await recordAudit(tx, realmId, entry, this.options.digest);
      return true;
    };
    return { record };
  }

  private async entryOf(
    { users }: Transaction,
    realmId: RealmId,
    {
      operation,
      subject,
      changes,
      events,
    }: {
      readonly operation: RecordedOperation;
      readonly subject: AuditedObject['subject'];
      readonly changes: AuditedChanges;
      readonly events: readonly DomainEvent[];
    },
  ): Promise<{ readonly facts: AuditFacts; readonly detail: AuditDetail | null }> {
    const { action, actorId, program, target, about, ip, userAgent, programName } = operation;
    const { keepsNames } = this.options;
    const actor = keepsNames && actorId !== null ? await users.find(realmId, actorId) : null;
    const names = keepsNames && { programName, actorName: actor?.fullName, subjectName: subject?.fullName };
    const personal = keepsNames && propertiesOf(changes, (name) => PERSONAL.has(name));
    const detail = {
      ip,
      userAgent,
      ...names,
      ...(personal && Object.keys(personal).length > 0 && { changes: personal }),
    };
    const content = JSON.stringify(detail);
    const facts = {
      ...{
        at: this.options.clock.now(),
        actorId,
        program,
        action,
        subjectId: subject?.id ?? usersIn(events)[0] ?? null,
      },
      target: JSON.stringify({ ...idsIn(target), ...about, ...idsOf(events, operation) }),
      changes: JSON.stringify(valuesOf(changes)),
    };
    return { facts, detail: content === '{}' ? null : { salt: this.options.randomness.uuid(), content } };
  }
}

const propertiesOf = (changes: AuditedChanges, isMeant: (name: string) => boolean): AuditedChanges =>
  Object.fromEntries(Object.entries(changes).filter(([name]) => isMeant(name)));

/** Omits names, addresses and long values. */
const valuesOf = (changes: AuditedChanges) =>
  Object.fromEntries(
    Object.entries(changes).map(([name, change]) => [
      name,
      PERSONAL.has(name) || JSON.stringify(change).length > MAX_VALUE_LENGTH ? {} : change,
    ]),
  );

/** Numbers of the path. Other segments may contain an address or a name. */
const idsIn = (target: AuditedOperation['target']): Readonly<Record<string, number>> =>
  Object.fromEntries(
    Object.entries(target).flatMap(([name, value]) => (/^\d{1,15}$/.test(value) ? [[name, Number(value)]] : [])),
  );

/** Returns the distinct users whom the events change. */
function usersIn(events: readonly DomainEvent[]): readonly UserId[] {
  const ids = events.flatMap((event) => {
    if (!event.type.startsWith('user.')) return [];
    if ('user' in event) return [event.user.id];
    return 'userId' in event && event.userId !== null ? [event.userId] : [];
  });
  return [...new Set(ids)];
}

/** True for operations on groups. Other operations, such as changes of roles, change members of system groups. */
const changesMembers = ({ action }: RecordedOperation): boolean => /user_groups|Groups/.test(action);

/** Objects and members that the events name. */
function idsOf(events: readonly DomainEvent[], operation: RecordedOperation): Readonly<Record<string, unknown>> {
  const users = usersIn(events);
  const channels = events.flatMap((event) => (event.type === 'channel.created' ? event.channels : []));
  const members = events.flatMap((event) => (event.type === 'group.members_changed' ? event : []));
  const changed = (op: 'add' | 'remove') =>
    members.flatMap((event) => (event.op === op ? event.userIds : [])).slice(0, MAX_LISTED_IDS);
  return {
    ...(users.length > 1 && { user_ids: users.slice(0, MAX_LISTED_IDS) }),
    ...(channels.length > 0 && { channel_ids: channels.slice(0, MAX_LISTED_IDS).map(({ id }) => id) }),
    ...(changesMembers(operation) && members.length > 0 && { added: changed('add'), removed: changed('remove') }),
  };
}
