import { foldCase, type MessageId, type RealmId, type UserId } from '@parley/domain/kernel';
import type {
  FormerIdentity,
  MentionRemoval,
  PersonalDataRepository,
  TableCursor,
  TableStep,
} from '@parley/domain/membership';
import { editsOf, holdOf, isHeld } from './memory-held-messages.js';
import { keyOf, type MemoryUnit, type Tables } from './tables.js';

/** Rows with different names of the person in them. */
interface AnyRow {
  readonly realmId?: RealmId;
  readonly userId?: UserId;
  readonly ownerId?: UserId;
  readonly inviterId?: UserId;
  readonly placeholderId?: UserId;
  readonly key?: string;
  readonly actorId?: UserId | null;
  readonly subjectId?: UserId | null;
  readonly targetId?: number;
  readonly kind?: unknown;
  readonly email?: string | null;
  readonly record?: { readonly userId: UserId };
  readonly session?: { readonly userId: UserId };
}

/** Tables with rows about one person. */
const ERASED: readonly (keyof Tables)[] = [
  ...([
    'alertWords',
    'apiKeys',
    'auditDetails',
    'authenticatorApps',
    'bouncedAddresses',
    'confirmations',
    'rows of device',
    'hostData',
  ] as const),
  ...(['importedRecords', 'invitations', 'linkedAccounts', 'loginNetworks', 'missedEmails', 'mutes'] as const),
  ...(['onboarding', 'passkeys', 'presence', 'profileValues', 'pushTokens', 'pushedMessages', 'queues'] as const),
  ...(['recoveryCodes', 'replyAddresses', 'sentOnce', 'sessions', 'statuses', 'topicPolicies'] as const),
  ...(['unfinishedUploads', 'webPush', 'rows of draft', 'rows of navigationView', 'rows of placeholderKey'] as const),
  ...(['rows of reminder', 'rows of scheduledMessage', 'rows of snippet'] as const),
];

/** Tables with texts that may mention a person. */
const MENTIONING: readonly (keyof Tables)[] = [
  ...(['messages', 'edits of messages', 'archivedMessages', 'rows of draft', 'rows of reminder'] as const),
  ...(['rows of scheduledMessage', 'rows of snippet', 'invitations'] as const),
];

export class MemoryPersonalData implements PersonalDataRepository {
  constructor(private readonly unit: MemoryUnit) {}

  async removeSome(
    realmId: RealmId,
    { id, email }: Pick<FormerIdentity, 'id' | 'email'>,
    _from: TableCursor | null,
    _limit: number,
  ): Promise<TableStep> {
    const isTheirs = (key: unknown, row: AnyRow): boolean =>
      [row.userId, row.ownerId, row.inviterId, row.actorId, row.subjectId].includes(id) ||
      (row.placeholderId === id && !row.key?.startsWith('visit:')) ||
      [row.record?.userId, row.session?.userId].includes(id) ||
      (row.realmId === realmId && row.kind === 'person' && row.targetId === id) ||
      (typeof row.email === 'string' && foldCase(row.email) === foldCase(email)) ||
      key === id ||
      key === keyOf(realmId, id) ||
      String(key).startsWith(`[${realmId},${id},`);
    let count = 0;
    for (const name of ERASED) {
      const table = this.unit.change(name) as Map<unknown, AnyRow>;
      const isById = name === 'apiKeys';
      for (const [key, row] of table) {
        if (!isTheirs(typeof key === 'number' && !isById ? null : key, row)) continue;
        table.delete(key);
        count++;
      }
    }
    return { count, held: 0, next: null };
  }

  async replaceSome(
    realmId: RealmId,
    removal: MentionRemoval,
    _from: TableCursor | null,
    _limit: number,
  ): Promise<TableStep> {
    const ids = [...this.unit.read('messages').values()].filter((each) => each.realmId === realmId).map(({ id }) => id);
    const results = [
      ...this.replaceInTables(realmId, removal, ids),
      ...MENTIONING.slice(2).map((name) => this.replaceIn(name, removal, () => true)),
    ];
    const sum = (part: 'count' | 'held') => results.reduce((total, result) => total + result[part], 0);
    return { count: sum('count'), held: sum('held'), next: null };
  }

  async replaceInMessages(realmId: RealmId, removal: MentionRemoval, ids: readonly MessageId[]): Promise<number> {
    return this.replaceInTables(realmId, removal, ids).reduce((total, { count }) => total + count, 0);
  }

  private replaceInTables(realmId: RealmId, removal: MentionRemoval, ids: readonly MessageId[]) {
    const isHere = (id: MessageId) => ids.includes(id) && this.unit.read('messages').get(id)?.realmId === realmId;
    return MENTIONING.slice(0, 2).map((name) => this.replaceIn(name, removal, isHere as never));
  }

  private replaceIn(
    name: keyof Tables,
    removal: MentionRemoval,
    isMeant: (key: unknown) => boolean,
  ): { readonly count: number; readonly held: number } {
    let count = 0;
    let held = 0;
    for (const [key, row] of this.unit.read(name) as ReadonlyMap<unknown, object>) {
      if (!isMeant(key)) continue;
      const before = JSON.stringify(row, asEntries);
      const after = removal.replace([before])[0]!;
      if (after === before) continue;
      if (this.isHeldRow(name, key as MessageId)) {
        held++;
        continue;
      }
      const changed = JSON.parse(after, fromEntries);
      (this.unit.change(name) as Map<unknown, object>).set(key, changed);
      if (name === 'messages') this.raiseVersion(key as MessageId);
      count++;
    }
    return { count, held };
  }

  private isHeldRow(name: keyof Tables, id: MessageId): boolean {
    const copy = name === 'archivedMessages' ? this.unit.read('archivedMessages').get(id) : undefined;
    if (copy) return holdOf(this.unit, copy.message, editsOf(copy)) !== null;
    const message = MENTIONING.indexOf(name) < 2 ? this.unit.read('messages').get(id) : undefined;
    return message !== undefined && isHeld(this.unit, message);
  }

  private raiseVersion(id: MessageId): void {
    const messages = this.unit.change('messages');
    const message = messages.get(id)!;
    messages.set(id, { ...message, version: message.version + 1 });
  }
}

/** Converts maps, which JSON lacks. */
const asEntries = (_: string, value: unknown) => (value instanceof Map ? { entriesOfMap: [...value] } : value);
const fromEntries = (_: string, value: unknown) =>
  typeof value === 'object' && value !== null && 'entriesOfMap' in value
    ? new Map(value.entriesOfMap as [unknown, unknown][])
    : value;
