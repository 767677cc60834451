import type { Actor } from '../access/actor.js';
import type { WebPublicOption } from '../channels/channel-access.js';
import { reading } from '../channels/read-contexts.js';
import { type SharedView, sharedViewOf } from '../channels/shared-view.js';
import { loginRequired, readAsSpectator, type Spectator } from '../channels/spectators.js';
import type { BlobStore } from '../files/blobs.js';
import type { StoredFile } from '../files/files.js';
import type { Caller, ChannelId, MessageId, UnixSeconds, UserId } from '../kernel/ids.js';
import { enforce } from '../kernel/permission.js';
import type { RealmUrls } from '../kernel/ports.js';
import type { Repositories, UnitOfWork } from '../kernel/unit-of-work.js';
import type { EventLoop } from '../kernel/yielding.js';
import type { RenderedMessages, SearchTexts } from '../markdown/markdown.js';
import type { Realm } from '../realms/realm.js';
import { inaccessibleUserIds } from '../users/accessible-users.js';
import {
  type LoadedMessage,
  listReadableEntries,
  loadMessages,
  loadReadableWithFlags,
  ownership,
  unknownMessage,
} from './load-access.js';
import { HISTORICAL, type Message, type MessageText, type MessageView, type PersonalFlags } from './message.js';
import type { MessageCondition } from './message-condition.js';
import { type MessageEdit, visibleEdits } from './message-edit.js';
import { openFile, type ReadableFile, thumbnailOf, unknownFile } from './message-files.js';
import { checkPage, type MessagePage, type PageRange, pageOfIds, selectPage } from './message-page.js';
import { canReadEditHistory, canSpectateFile, canSpectateMessage } from './message-permissions.js';
import { isForSpectators, replaceWith, resolveNarrow } from './narrow.js';
import { invalidNarrow, type NarrowTerm } from './narrow-operators.js';
import { selectRelevant } from './relevance.js';
import { type Highlight, highlighting, isSearchIncomplete } from './search.js';
import { proposeSearch } from './search-proposals.js';
import { sharedMessages, sharedNarrow } from './shared-messages.js';

export interface GetMessagesInput {
  readonly narrow: readonly NarrowTerm[];
  /** Range in the narrow, or specific messages restricted to the narrow. */
  readonly select: PageRange | { readonly ids: readonly MessageId[] };
  /** Selects the most relevant messages of a search instead of a range, at most `before` of them. */
  readonly byRelevance?: boolean;
}

export interface MessageList extends MessagePage {
  readonly viewer: Actor;
  readonly realm: Realm;
  /** Senders hidden from the caller; messages then contain no sender identity (messages §2). */
  readonly hiddenUserIds: ReadonlySet<UserId>;
  /** Null if there is no search. */
  readonly highlight: Highlight | null;
  /** True for searches while older messages are being indexed. */
  readonly isSearchIncomplete: boolean;
  /** Search to try instead of one that finds nothing; null if there is none. */
  readonly proposal: string | null;
  /** Ids of the page, the most relevant first; null for pages selected otherwise. */
  readonly ranking: readonly MessageId[] | null;
}

/** Called inside the read snapshot, so that presenters with a message cache load only missing messages. */
export type PresentMessages<T> = (
  list: MessageList,
  hydrate: (ids: readonly MessageId[]) => Promise<readonly MessageView[]>,
  /** Loads texts for highlighting search matches. */
  listTexts: (ids: readonly MessageId[]) => Promise<readonly MessageText[]>,
) => Promise<T>;

/** Returns a page of messages (messages §5). */
export class GetMessages {
  static readonly inject = ['unitOfWork', 'realmUrls', 'renderedMessages'] as const;
  private readonly pages: SharedPages;

  constructor(
    private readonly uow: UnitOfWork,
    private readonly realmUrls: RealmUrls,
    private readonly texts: SearchTexts,
  ) {
    this.pages = new SharedPages(realmUrls, texts);
  }

  /** @throws DomainError TOO_MANY_MESSAGES, INVALID_MESSAGE_RANGE, UNKNOWN_MESSAGE, INVALID_NARROW */
  execute<T>(
    caller: Caller,
    { narrow, select, byRelevance }: GetMessagesInput,
    present: PresentMessages<T>,
  ): Promise<T> {
    const readIds: MessageId[] = [];
    const read = async (repositories: Repositories): Promise<T> => {
      const view = await sharedViewOf(repositories, caller);
      if (view) {
        if (byRelevance) throw invalidNarrow('order by relevance with this token');
        const { terms, condition } = sharedNarrow(view, caller, narrow);
        return this.pages.read(
          repositories,
          { ...view, condition, view },
          { narrow: terms, select },
          async (...page) => {
            readIds.push(...page[0].entries.map(({ id }) => id));
            return present(...page);
          },
        );
      }
      const actor = await repositories.actors.get(caller);
      const terms = await replaceWith(repositories, actor, narrow);
      checkPage(select);
      const realm = await repositories.realms.get(actor.realmId);
      const texts = this.texts.inLanguages(realm.settings.searchLanguages);
      const context = { reads: repositories, actor, realmUrls: this.realmUrls, words: this.texts };
      const resolved = await resolveNarrow(context, terms);
      const { search } = resolved;
      const page =
        'ids' in select
          ? pageOfIds(await listReadableEntries(repositories, actor, select.ids, resolved.filter.conditions))
          : byRelevance && search !== null
            ? await selectRelevant(repositories, texts, actor, { ...resolved, search }, select.before)
            : await selectPage(repositories, actor, resolved, select);
      const senderIds = page.entries.map((entry) => entry.senderId);
      const hiddenUserIds = await inaccessibleUserIds(repositories, actor, realm, senderIds);
      const viewer = { realmId: actor.realmId, userId: actor.id };
      const highlight = search === null ? null : highlighting(texts, resolved);
      const isEmptySearch = search !== null && page.entries.length === 0 && !('ids' in select);
      return present(
        {
          ranking: null,
          ...page,
          viewer: actor,
          realm,
          hiddenUserIds,
          highlight,
          isSearchIncomplete: await isSearchIncomplete(repositories, realm.id, search),
          // Proposals come from all that the user may read.
          proposal:
            isEmptySearch && !caller.scope
              ? await proposeSearch(repositories, texts, viewer, search, {
                  place: resolved.filter,
                  everywhere: (await resolveNarrow(context, [])).filter,
                  isWhole: page.foundOldest && page.foundNewest,
                })
              : null,
        },
        (ids) => repositories.pages.listViews(actor.realmId, ids),
        (ids) => repositories.pages.listTexts(actor.realmId, ids),
      );
    };
    return reading(this.uow, caller, () => this.uow.read(caller.realmId, read, { allowsReplica: true }), {
      messageIds: readIds,
    });
  }
}

export interface GetMessageOutput {
  readonly viewer: Actor;
  readonly view: MessageView;
  readonly flags: PersonalFlags;
  readonly realm: Realm;
  /** True if the caller may see the sender. */
  readonly isSenderVisible: boolean;
}

/** Returns a single message (messages §6). */
export class GetMessage {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  /** @throws DomainError UNKNOWN_MESSAGE for both hidden and nonexistent messages */
  execute(caller: Caller, { id }: { readonly id: MessageId }): Promise<GetMessageOutput> {
    const read = async (repositories: Repositories): Promise<GetMessageOutput> => {
      const shared = await sharedViewOf(repositories, caller);
      if (shared) return sharedMessage(repositories, shared, id);
      const actor = await repositories.actors.get(caller);
      const loaded = await loadReadableWithFlags(repositories, actor, id);
      const [view] = await repositories.pages.listViews(actor.realmId, [id]);
      const realm = await repositories.realms.get(actor.realmId);
      const hiddenUserIds = await inaccessibleUserIds(repositories, actor, realm, [loaded.message.senderId]);
      const flags = loaded.flags ?? HISTORICAL;
      return { viewer: actor, view: view!, flags, realm, isSenderVisible: hiddenUserIds.size === 0 };
    };
    return reading(this.uow, caller, () => this.uow.read(caller.realmId, read), { messageIds: [id] });
  }
}

/** Returns a message of a shared view. @throws DomainError UNKNOWN_MESSAGE */
async function sharedMessage(reads: Repositories, shared: SharedView, id: MessageId): Promise<GetMessageOutput> {
  const { viewer, realm } = shared;
  const [entry] = await reads.pages.listEntries(
    { realmId: realm.id, userId: viewer.id },
    [id],
    [sharedMessages(shared)],
  );
  if (!entry) throw unknownMessage();
  const [view] = await reads.pages.listViews(realm.id, [id]);
  const hidden = await shared.hiddenAmong([entry.senderId]);
  return { viewer, view: view!, flags: FLAGS, realm, isSenderVisible: hidden.size === 0 };
}

/** State of a message as sent or after an edit. */
export interface MessageSnapshot {
  readonly topic: string;
  /** Markdown. */
  readonly content: string;
  /** HTML. */
  readonly rendered: string;
  readonly userId: UserId;
  readonly timestamp: UnixSeconds;
  readonly isDirect: boolean;
  /** Null for the original message. */
  readonly edit: MessageEdit | null;
  /** Text difference as HTML; null if the text did not change. */
  readonly diff: string | null;
}

/** Returns the edit history of a message (messages §10). */
export class GetEditHistory {
  static readonly inject = ['unitOfWork', 'renderedMessages', 'eventLoop'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly renderedMessages: RenderedMessages,
    private readonly eventLoop: EventLoop,
  ) {}

  /** Returns snapshots, oldest first. @throws DomainError EDIT_HISTORY_DISABLED, UNKNOWN_MESSAGE */
  async execute(caller: Caller, { messageId }: { readonly messageId: MessageId }): Promise<readonly MessageSnapshot[]> {
    const { message, edits } = await this.uow.read(caller.realmId, async (repositories) => {
      const actor = await repositories.actors.get(caller);
      const realm = await repositories.realms.get(caller.realmId);
      const [loaded] = await loadMessages(repositories, actor, [messageId]);
      enforce(canReadEditHistory(actor, realm, loaded ?? null));
      const all = await repositories.edits.list(realm.id, messageId);
      return { message: loaded!.message, edits: visibleEdits(all, realm.settings.messageEditHistoryVisibilityPolicy) };
    });
    const snapshots = snapshotsOf(message, edits);
    const compared: MessageSnapshot[] = [];
    // Each diff is slow to compute.
    for (const snapshot of snapshots) {
      const previous = snapshot.edit?.previousContent;
      if (!previous) compared.push({ ...snapshot, diff: null });
      else {
        compared.push({ ...snapshot, diff: this.renderedMessages.diff(previous.rendered, snapshot.rendered) });
        await this.eventLoop.yield();
      }
    }
    return compared;
  }
}

/**
 * Reconstructs snapshots backwards from the current message and returns them oldest first. Expects `edits` newest
 * first.
 */
export function snapshotsOf(message: Message, edits: readonly MessageEdit[]): readonly Omit<MessageSnapshot, 'diff'>[] {
  const isDirect = message.channelId === null;
  let { topic, content, renderedContent: rendered } = message;
  const newestFirst: Omit<MessageSnapshot, 'diff'>[] = [];
  for (const edit of edits) {
    const { userId, editedAt, previousContent } = edit;
    newestFirst.push({ topic, content, rendered, userId, timestamp: editedAt, isDirect, edit });
    topic = edit.topic?.from ?? topic;
    content = previousContent?.content ?? content;
    rendered = previousContent?.rendered ?? rendered;
  }
  const { senderId: userId, sentAt: timestamp } = message;
  newestFirst.push({ topic, content, rendered, userId, timestamp, isDirect, edit: null });
  return newestFirst.reverse();
}

export interface MatchNarrowInput {
  readonly ids: readonly MessageId[];
  readonly narrow: readonly NarrowTerm[];
}

export interface NarrowMatches {
  /** Ascending. */
  readonly ids: readonly MessageId[];
  readonly highlight: Highlight;
}

/** Called inside the read snapshot. */
export type PresentMatches<T> = (
  matches: NarrowMatches,
  listTexts: (ids: readonly MessageId[]) => Promise<readonly MessageText[]>,
) => Promise<T>;

/**
 * Returns which of the messages match a narrow. Considers only messages received by the caller, even if the narrow
 * opens history (messages §8).
 */
export class MatchNarrow {
  static readonly inject = ['unitOfWork', 'realmUrls', 'renderedMessages'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly realmUrls: RealmUrls,
    private readonly texts: SearchTexts,
  ) {}

  /** @throws DomainError TOO_MANY_MESSAGES, INVALID_NARROW */
  execute<T>(caller: Caller, { ids, narrow }: MatchNarrowInput, present: PresentMatches<T>): Promise<T> {
    const readIds: MessageId[] = [];
    const read = async (reads: Repositories): Promise<T> => {
      const shared = await sharedViewOf(reads, caller);
      const actor = shared?.viewer ?? (await reads.actors.get(caller));
      checkPage({ ids });
      const { searchLanguages } = (await reads.realms.get(actor.realmId)).settings;
      const texts = this.texts.inLanguages(searchLanguages);
      const context = { reads, actor, realmUrls: this.realmUrls, words: this.texts };
      const within = shared && sharedNarrow(shared, caller, narrow);
      const resolved = within
        ? await resolveNarrow({ ...context, findsFiles: false }, within.terms, within.condition)
        : await resolveNarrow(context, narrow, 'received');
      const viewer = { realmId: actor.realmId, userId: actor.id };
      const entries = await reads.pages.listEntries(viewer, ids, resolved.filter.conditions);
      const isMatch = shared ? () => true : await ownership(reads, viewer, entries);
      const matching = entries.filter(isMatch).map(({ id }) => id);
      readIds.push(...matching);
      return present({ ids: matching, highlight: highlighting(texts, resolved) }, (some) =>
        reads.pages.listTexts(actor.realmId, some),
      );
    };
    return reading(this.uow, caller, () => this.uow.read(caller.realmId, read), { messageIds: readIds });
  }
}

/** Flags of all messages for anonymous callers and shared views. */
const FLAGS: PersonalFlags = { ...HISTORICAL, historical: false };

/** Messages that are read without being anybody's own: by anonymous callers, or as a shared view. */
interface SharedMessages extends Pick<SharedView, 'realm' | 'viewer' | 'hiddenAmong'> {
  readonly condition: MessageCondition;
  /** Null for anonymous callers. */
  readonly view: SharedView | null;
}

class SharedPages {
  constructor(
    private readonly realmUrls: RealmUrls,
    private readonly texts: SearchTexts,
  ) {}

  async read<T>(
    reads: Repositories,
    { realm, viewer, hiddenAmong, condition, view }: SharedMessages,
    { narrow, select }: GetMessagesInput,
    present: PresentMessages<T>,
  ): Promise<T> {
    checkPage(select);
    const texts = this.texts.inLanguages(realm.settings.searchLanguages);
    const files = view && ({ findsFiles: false } as const);
    const context = { reads, actor: viewer, realmUrls: this.realmUrls, words: this.texts, ...files };
    const resolved = await resolveNarrow(context, narrow, condition);
    const ofViewer = { realmId: realm.id, userId: viewer.id };
    const page =
      'ids' in select
        ? pageOfIds(await reads.pages.listEntries(ofViewer, select.ids, resolved.filter.conditions))
        : await selectPage(reads, viewer, resolved, select);
    const { search } = resolved;
    return present(
      {
        ...page,
        entries: page.entries.map((entry) => ({ ...entry, flags: FLAGS })),
        viewer,
        realm,
        hiddenUserIds: await hiddenAmong(page.entries.map(({ senderId }) => senderId)),
        highlight: search === null ? null : highlighting(texts, resolved),
        // Depends on all messages.
        isSearchIncomplete: !view && (await isSearchIncomplete(reads, realm.id, search)),
        proposal: null,
        ranking: null,
      },
      (ids) => reads.pages.listViews(realm.id, ids),
      (ids) => reads.pages.listTexts(realm.id, ids),
    );
  }
}

const WEB_PUBLIC: MessageCondition = { kind: 'channelPrivacy', privacies: ['webPublic'] };

/** Returns pages of messages in web-public channels to anonymous callers (protocol §9). */
export class SpectateMessages {
  static readonly inject = ['unitOfWork', 'realmUrls', 'renderedMessages', 'serverChannelConfig'] as const;
  private readonly pages: SharedPages;

  constructor(
    private readonly uow: UnitOfWork,
    realmUrls: RealmUrls,
    texts: SearchTexts,
    private readonly option: WebPublicOption,
  ) {
    this.pages = new SharedPages(realmUrls, texts);
  }

  /** @throws DomainError UNKNOWN_REALM, UNAUTHENTICATED, TOO_MANY_MESSAGES, INVALID_MESSAGE_RANGE, INVALID_NARROW */
  execute<T>(caller: Spectator, { narrow, select }: GetMessagesInput, present: PresentMessages<T>): Promise<T> {
    return readAsSpectator(this.uow, caller, this.option, async (reads, { realm, actor, spectators }) => {
      const mayRead = ({ channel }: LoadedMessage) => canSpectateMessage(realm, channel, spectators).allowed;
      if (!isForSpectators(narrow)) throw loginRequired();
      const terms = await replaceWith(reads, actor, narrow, mayRead);
      const hiddenAmong = async () => new Set<UserId>();
      const messages = { realm, viewer: actor, hiddenAmong, condition: WEB_PUBLIC, view: null };
      return this.pages.read(reads, messages, { narrow: terms, select }, present);
    });
  }
}

/** Returns a single message of a web-public channel to anonymous callers (protocol §9). */
export class SpectateMessage {
  static readonly inject = ['unitOfWork', 'serverChannelConfig'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly option: WebPublicOption,
  ) {}

  /** @throws DomainError UNKNOWN_REALM, UNAUTHENTICATED, UNKNOWN_MESSAGE */
  execute(caller: Spectator, { id }: { readonly id: MessageId }): Promise<GetMessageOutput> {
    return readAsSpectator(this.uow, caller, this.option, async (reads, { realm, actor, spectators }) => {
      const [view] = await reads.pages.listViews(realm.id, [id]);
      const channelId = view?.message.channelId ?? null;
      const channel = channelId === null ? null : await reads.channels.find(realm.id, channelId);
      enforce(canSpectateMessage(realm, channel, spectators));
      return { viewer: actor, view: view!, flags: FLAGS, realm, isSenderVisible: true };
    });
  }
}

/** Rate limit for anonymous file access. */
export interface SpectatedFiles {
  /** Counts one access. @throws DomainError RATE_LIMITED */
  count(file: Pick<StoredFile, 'id'>): void;
}

/**
 * Returns a file linked in web-public channels, or its thumbnail, to anonymous callers (messages §16.2, protocol §9).
 */
export class SpectateFile {
  static readonly inject = ['unitOfWork', 'blobStore', 'serverChannelConfig', 'spectatedFiles'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly blobs: BlobStore,
    private readonly option: WebPublicOption,
    private readonly readings: SpectatedFiles,
  ) {}

  /**
   * `format`: name of the thumbnail; null for the file itself.
   * @throws DomainError UNKNOWN_REALM, UNAUTHENTICATED, UNKNOWN_FILE, CANNOT_VIEW_FILE, RATE_LIMITED
   */
  async execute(
    caller: Spectator,
    { pathId, format }: { readonly pathId: string; readonly format: string | null },
  ): Promise<ReadableFile> {
    const readable = await readAsSpectator(this.uow, caller, this.option, async (reads, { realm, spectators }) => {
      const [found] = await reads.files.listByPath(realm.id, [pathId]);
      const [file] = found ? await reads.files.listAttached(realm.id, [found.id]) : [];
      if (!file) throw unknownFile();
      const channelIds = new Set<ChannelId>();
      for (const message of await reads.messages.list(realm.id, file.messageIds)) {
        if (message.channelId !== null) channelIds.add(message.channelId);
      }
      enforce(canSpectateFile(realm, await reads.channels.list(realm.id, [...channelIds]), spectators));
      return format === null ? file : thumbnailOf(file, await reads.files.listThumbnails(realm.id, file.id), format);
    });
    this.readings.count(readable);
    return openFile(readable, this.blobs);
  }
}
