import type { GroupSettings } from '@parley/domain/access';
import type { ImportedKind } from '@parley/domain/exports';
import {
  byId,
  type ChannelId,
  type CustomEmojiId,
  type GroupId,
  type IdKind,
  type ImportedIdMap,
  type ImportIds,
  invalidImport,
  type MessageId,
  type RealmId,
  type RecipientId,
  type Transaction,
  type UnitOfWork,
  type UserId,
} from '@parley/domain/kernel';
import type { LinkifierRule, MarkdownRenderer, TopicLink } from '@parley/domain/markdown';
import { type ImportSource, MAX_KEPT_ID, type RealmSource, type RecordTarget } from '../exports/realm-copy.js';

/** Map from exported ids of one kind to ids on this server. */
export abstract class IdLookup<Id extends number> implements ImportedIdMap<Id> {
  /** True if all ids are unchanged. */
  isIdentity = true;

  constructor(
    /** Name of the kind in error messages, such as `user`. */
    protected readonly noun: string,
  ) {}

  abstract find(old: Id): Id | undefined;

  /** @throws DomainError INVALID_IMPORT */
  get(old: Id): Id {
    const id = this.find(old);
    if (id === undefined) throw invalidImport(`It names a ${this.noun} ${old} that it does not have.`);
    return id;
  }

  orNull(old: Id | null): Id | null {
    return old === null ? null : this.get(old);
  }

  list(old: readonly Id[]): Id[] {
    return old.map((id) => this.get(id));
  }
}

/** Ids assigned one by one. */
export class IdMap<Id extends number> extends IdLookup<Id> {
  private readonly ids = new Map<Id, Id>();
  private next = 0;
  /** Range of unused ids; null before `reserve`. */
  private free: { readonly first: number; readonly last: number } | null = null;

  constructor(
    private readonly kind: IdKind,
    noun: string,
  ) {
    super(noun);
  }

  /** Maps objects that exist on this server to themselves. */
  keep(ids: Iterable<Id>): void {
    for (const id of ids) this.ids.set(id, id);
  }

  /** Reserves the never assigned ids up to `last`, for objects that are not created in id order. */
  async reserve(tx: Transaction, last: number): Promise<void> {
    const first = (await tx.copies.lastId(this.kind)) + 1;
    this.free = { first, last: Math.min(last, MAX_KEPT_ID) };
    if (this.free.last >= first) await tx.copies.raiseIds(this.kind, this.free.last + 1);
  }

  /**
   * Creates an object under its old id if that id is free. Without `reserve`, this works for ascending ids on a new
   * server. `make` receives the old id if it was reserved, otherwise null.
   */
  async add<T extends Id | { readonly id: Id }>(
    tx: Transaction,
    old: Id,
    make: (reserved: Id | null) => Promise<T>,
  ): Promise<T> {
    if (this.ids.has(old)) throw invalidImport(`There are two ${this.noun}s ${old}.`);
    if (!this.free && old !== this.next && old <= MAX_KEPT_ID) await tx.copies.raiseIds(this.kind, old);
    const isReserved = this.free !== null && old >= this.free.first && old <= this.free.last;
    const made = await make(isReserved ? old : null);
    const id: Id = idOf(made);
    const { next, isIdentity } = this;
    // The storage may roll the unit back and run it again.
    tx.onRollback(() => {
      this.ids.delete(old);
      this.next = next;
      this.isIdentity = isIdentity;
    });
    this.ids.set(old, id);
    this.next = id + 1;
    if (id !== old) this.isIdentity = false;
    return made;
  }

  find(old: Id): Id | undefined {
    return this.ids.get(old);
  }
}

/**
 * Message ids, possibly millions. All are assigned before the first message is created, because texts refer to earlier
 * and later messages.
 */
export class MessageIds extends IdLookup<MessageId> {
  private ranges = new IdRanges();
  private lastKept = 0;
  /** Range of unchanged ids; null if new ids were planned. */
  private free: { readonly first: MessageId; readonly last: MessageId } | null = null;

  constructor() {
    super('message');
  }

  /**
   * Reserves ids for all messages. Keeps the old ids if no id was assigned yet, as on a new server; otherwise first
   * reads the ids from the source. @throws DomainError INVALID_IMPORT
   */
  async reserve(uow: UnitOfWork, source: Pick<ImportSource, 'messageRange' | 'messageIds'>): Promise<void> {
    const range = await source.messageRange();
    if (range === null) return;
    const { first, last } = range;
    const areFree = await uow.writeAcross(async (tx) => {
      if (last > MAX_KEPT_ID || (await tx.copies.lastId('message')) >= first) return false;
      await tx.copies.raiseIds('message', last + 1);
      return true;
    });
    if (areFree) this.free = range;
    else await this.plan(uow, source);
  }

  /**
   * Returns the new ids of the next messages.
   * @throws DomainError INVALID_IMPORT, also for ids that were not reserved
   */
  take(old: readonly MessageId[]): readonly MessageId[] {
    if (this.free === null) return this.list(old);
    for (const id of old) {
      if (id < this.free.first || id > this.free.last) throw invalidImport(`Message ${id} is not in its place.`);
      this.ranges.add(id, id);
    }
    return old;
  }

  /** Maps messages that exist on this server to themselves. */
  keepUpTo(last: number): void {
    this.lastKept = last;
  }

  find(old: MessageId): MessageId | undefined {
    if (old <= this.lastKept) return old;
    return this.ranges.find(old) as MessageId | undefined;
  }

  /** Plans new ids, keeping each id that is free. */
  private async plan(uow: UnitOfWork, source: Pick<ImportSource, 'messageIds'>): Promise<void> {
    const all: (readonly MessageId[])[] = [];
    for await (const ids of source.messageIds()) all.push(ids);
    this.ranges = await uow.writeAcross(async (tx) => {
      const ranges = new IdRanges();
      let next = (await tx.copies.lastId('message')) + 1;
      for (const ids of all) {
        // A repository call per list lets long units yield.
        next = Math.max(next, (await tx.copies.lastId('message')) + 1);
        for (const wanted of ids) {
          const id = wanted >= next && wanted <= MAX_KEPT_ID ? wanted : next;
          ranges.add(wanted, id);
          next = id + 1;
        }
      }
      await tx.copies.raiseIds('message', next);
      return ranges;
    });
    this.isIdentity = this.ranges.areIdentity;
  }
}

/** Ascending message ids as ranges with a common offset. */
class IdRanges {
  areIdentity = true;
  private readonly firsts: number[] = [];
  private readonly lasts: number[] = [];
  private readonly distances: number[] = [];

  /** @throws DomainError INVALID_IMPORT */
  add(old: number, id: number): void {
    const at = this.lasts.length - 1;
    const last = this.lasts[at] ?? 0;
    if (old === last) throw invalidImport(`There are two messages ${old}.`);
    if (old < last) throw invalidImport(`Message ${old} comes after message ${last}.`);
    const distance = id - old;
    if (distance !== 0) this.areIdentity = false;
    if (old === last + 1 && distance === this.distances[at]) this.lasts[at] = old;
    else {
      this.firsts.push(old);
      this.lasts.push(old);
      this.distances.push(distance);
    }
  }

  find(old: number): number | undefined {
    const at = this.rangeBefore(old);
    if (at < 0 || old > this.lasts[at]!) return undefined;
    return old + this.distances[at]!;
  }

  /** Returns the last range that begins at or before the id; -1 if there is none. */
  private rangeBefore(old: number): number {
    let [low, high] = [0, this.firsts.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.firsts[middle]! <= old) low = middle + 1;
      else high = middle;
    }
    return low - 1;
  }
}

const idOf = <Id extends number>(made: Id | { readonly id: Id }): Id => (typeof made === 'number' ? made : made.id);

/** Maximum number of cached topics; messages of a topic are usually adjacent. */
const MAX_TOPICS = 10_000;

/** Cache of topic links for exports that do not contain them. */
export class TopicLinks {
  private readonly byTopic = new Map<string, readonly TopicLink[]>();

  constructor(
    private readonly renderer: Pick<MarkdownRenderer, 'topicLinks'>,
    private readonly linkifiers: readonly LinkifierRule[],
  ) {}

  of(topic: string): readonly TopicLink[] {
    let links = this.byTopic.get(topic);
    if (!links) {
      if (this.byTopic.size >= MAX_TOPICS) this.byTopic.clear();
      links = this.renderer.topicLinks(topic, this.linkifiers);
      this.byTopic.set(topic, links);
    }
    return links;
  }
}

/** Ids in texts. */
export interface NamedIds {
  readonly realm: { readonly from: RealmId; readonly to: RealmId };
  readonly users: IdLookup<UserId>;
  readonly groups: IdLookup<GroupId>;
  readonly channels: IdLookup<ChannelId>;
  readonly messages: IdLookup<MessageId>;
  /** File names of custom emoji at the end of URLs, such as `7.gif`. Missing entries are unchanged. */
  readonly emojiFiles: ReadonlyMap<string, string>;
}

/** Replaces ids in Markdown and HTML with ids of this server. Unknown ids are left unchanged. */
export class TextRewriter {
  constructor(private readonly ids: NamedIds) {}

  markdown(text: string): string {
    if (this.hasSameIds()) return text;
    const { users } = this.ids;
    const named = text.includes('|')
      ? text.replace(
          /(@_?\*\*[^*|\n]*\|)(\d{1,15})(?=\*\*)/g,
          (_, start: string, id: string) => start + mapped(users, id),
        )
      : text;
    return this.links(named);
  }

  html(text: string): string {
    if (this.hasSameIds()) return text;
    const { users, groups, channels } = this.ids;
    const named = text.includes('data-')
      ? text
          .replace(/(data-user-id=")(\d{1,15})(?=")/g, (_, start: string, id: string) => start + mapped(users, id))
          .replace(
            /(data-user-group-id=")(\d{1,15})(?=")/g,
            (_, start: string, id: string) => start + mapped(groups, id),
          )
          .replace(/(data-stream-id=")(\d{1,15})(?=")/g, (_, start: string, id: string) => start + mapped(channels, id))
      : text;
    return this.emojiPictures(this.links(named));
  }

  /** Converts a file path, which begins with the organization's id. */
  pathId(pathId: string): string | null {
    const { from, to } = this.ids.realm;
    return pathId.startsWith(`${from}/`) ? `${to}/${pathId.slice(String(from).length + 1)}` : null;
  }

  private hasSameIds(): boolean {
    const { realm, users, groups, channels, messages, emojiFiles } = this.ids;
    return (
      realm.from === realm.to &&
      emojiFiles.size === 0 &&
      [users, groups, channels, messages].every(({ isIdentity }) => isIdentity)
    );
  }

  /** Runs after the links were converted, because it expects this organization's id. */
  private emojiPictures(text: string): string {
    const { realm, emojiFiles } = this.ids;
    if (emojiFiles.size === 0 || !text.includes('/emoji/images/')) return text;
    return text.replace(
      /(\/user_avatars\/(\d{1,15})\/emoji\/images\/)([0-9a-zA-Z._-]{1,100})(?=")/g,
      (whole, start: string, realmId: string, file: string) =>
        realmId === String(realm.to) ? start + (emojiFiles.get(file) ?? file) : whole,
    );
  }

  private links(text: string): string {
    const { realm, channels, messages } = this.ids;
    let result = text;
    if (realm.from !== realm.to) {
      for (const folder of ['user_uploads', 'user_uploads/thumbnail', 'user_avatars', 'external_content']) {
        result = result.replaceAll(`/${folder}/${realm.from}/`, `/${folder}/${realm.to}/`);
      }
    }
    if (!result.includes('#narrow/')) return result;
    return result
      .replace(
        /(#narrow\/(?:channel|stream)\/)(\d{1,15})(?=[-/])/g,
        (_, start: string, id: string) => start + mapped(channels, id),
      )
      .replace(
        /(#narrow\/[^\s"'<>)]{1,500}?\/(?:near|with)\/)(\d{1,15})/g,
        (_, start: string, id: string) => start + mapped(messages, id),
      );
  }
}

function mapped<Id extends number>(map: IdLookup<Id>, id: string): string {
  return String(map.find(Number(id) as Id) ?? id);
}

/** Ids on this server of all objects imported so far. */
export class ImportedIds implements ImportIds {
  readonly users = new IdMap<UserId>('user', 'user');
  readonly groups = new IdMap<GroupId>('group', 'user group');
  readonly channels = new IdMap<ChannelId>('channel', 'channel');
  readonly recipients = new IdMap<RecipientId>('recipient', 'recipient');
  readonly messages = new MessageIds();
  readonly emoji = new IdMap<CustomEmojiId>('customEmoji', 'custom emoji');
  readonly emojiFiles = new Map<string, string>();
  readonly rewriter: TextRewriter;
  private readonly others = new Map<IdKind, IdMap<never>>();

  constructor(
    readonly realmId: RealmId,
    source: RealmSource,
  ) {
    const { users, groups, channels, messages, emojiFiles } = this;
    const realm = { from: source.realm.realm.id, to: realmId };
    this.rewriter = new TextRewriter({ realm, users, groups, channels, messages, emojiFiles });
  }

  async addAll<Id extends number, T extends { readonly id: Id }>(
    tx: Transaction,
    kind: IdKind,
    noun: string,
    items: readonly T[],
    add: (item: T, reserved: Id | null) => Promise<Id | { readonly id: Id }>,
  ): Promise<IdMap<Id>> {
    const ids = this.others.get(kind) ?? new IdMap<never>(kind, noun);
    this.others.set(kind, ids);
    const typed = ids as unknown as IdMap<Id>;
    for (const item of byId(items)) await typed.add(tx, item.id, (reserved) => add(item, reserved));
    return typed;
  }

  /** Maps objects that exist on this server to themselves, before `addAll` adds others. */
  keep(kind: IdKind, ids: Iterable<number>): void {
    const kept = new IdMap<never>(kind, kind);
    kept.keep(ids as Iterable<never>);
    this.others.set(kind, kept);
  }

  /** Reserves the ids up to `last` for all `addAll` calls of the kind. */
  async reserve(tx: Transaction, kind: IdKind, last: number): Promise<void> {
    const ids = new IdMap<never>(kind, kind);
    this.others.set(kind, ids);
    await ids.reserve(tx, last);
  }

  lastOf<Id extends number>(kind: IdKind): IdMap<Id> {
    const ids = this.others.get(kind);
    if (!ids) throw new Error(`No ${kind} was imported yet`);
    return ids as unknown as IdMap<Id>;
  }

  /** Returns the id on this server of an object that a record became. */
  targetOf({ origin, targetId }: RecordTarget): number {
    const { users: person, groups: group, channels: channel, recipients: conversation, emoji } = this;
    const lookups: Partial<Record<ImportedKind, { get(old: never): number }>> = {
      ...{ person, group, groupMembers: group, channel, members: channel, conversation, emoji },
    };
    return lookups[origin.kind]!.get(targetId as never);
  }

  permissionsOf<R extends GroupSettings<object>>(permissions: R): R {
    const mapped = Object.entries(permissions).map(([name, id]) => [name, this.groups.get(id as GroupId)]);
    return Object.fromEntries(mapped) as R;
  }

  /** Rewrites the emoji code, which is an id for custom emoji. */
  emojiOf<E extends { readonly type: string; readonly code: string }>(emoji: E): E {
    const id = emoji.type === 'custom' ? this.emoji.find(Number(emoji.code) as CustomEmojiId) : undefined;
    return id === undefined ? emoji : { ...emoji, code: String(id) };
  }
}
