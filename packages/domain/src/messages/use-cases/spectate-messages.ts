import type { WebPublicOption } from '../../channels/channel-access.js';
import { enterAsSpectator, notLoggedIn, type Spectator } from '../../channels/spectators.js';
import type { BlobStore } from '../../files/blob-store.js';
import type { StoredFile } from '../../files/file.js';
import type { ChannelId, MessageId } from '../../kernel/ids.js';
import { enforce } from '../../kernel/permission.js';
import type { RealmUrls } from '../../kernel/realm-urls.js';
import type { UnitOfWork } from '../../kernel/unit-of-work.js';
import type { SearchTexts } from '../../markdown/markdown.js';
import type { LoadedMessage } from '../load-access.js';
import { HISTORICAL, type PersonalFlags } from '../message.js';
import { checkPage, pageOfIds, selectPage } from '../message-page.js';
import { canSpectateFile, canSpectateMessage } from '../message-permissions.js';
import { isForSpectators, replaceWith, resolveNarrow } from '../narrow.js';
import { highlighting } from '../search.js';
import type { GetMessageOutput } from './get-message.js';
import type { GetMessagesInput, PresentMessages } from './get-messages.js';
import { openFile, type ReadableFile, thumbnailOf, unknownFile } from './read-file.js';

/** What everything is to them. */
const FLAGS: PersonalFlags = { ...HISTORICAL, historical: false };

/** Pages of web-public channels, without logging in (protocol §9). */
export class SpectateMessages {
  static readonly inject = ['unitOfWork', 'realmUrls', 'renderedMessages', 'serverChannelConfig'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly realmUrls: RealmUrls,
    private readonly texts: SearchTexts,
    private readonly option: WebPublicOption,
  ) {}

  /** @throws DomainError UNKNOWN_REALM, UNAUTHENTICATED, TOO_MANY_MESSAGES, INVALID_MESSAGE_RANGE, INVALID_NARROW */
  execute<T>(caller: Spectator, { narrow, select }: GetMessagesInput, present: PresentMessages<T>): Promise<T> {
    return this.uow.read(async (reads) => {
      const { realm, actor, spectators } = await enterAsSpectator(reads, caller, this.option);
      const mayRead = ({ channel }: LoadedMessage) => canSpectateMessage(realm, channel, spectators).allowed;
      if (!isForSpectators(narrow)) throw notLoggedIn();
      const terms = await replaceWith(reads, actor, narrow, mayRead);
      checkPage(select);
      const context = { reads, actor, realmUrls: this.realmUrls, words: this.texts };
      const resolved = await resolveNarrow(context, terms, 'webPublic');
      const page =
        'ids' in select
          ? pageOfIds(
              await reads.pages.listEntries(
                { realmId: realm.id, userId: actor.id },
                select.ids,
                resolved.filter.conditions,
              ),
            )
          : await selectPage(reads, actor, resolved, select);
      const entries = page.entries.map((entry) => ({ ...entry, flags: FLAGS }));
      const highlight = resolved.search === null ? null : highlighting(this.texts, resolved.search);
      return present(
        { ...page, entries, viewer: actor, realm, hiddenUserIds: new Set(), highlight },
        (ids) => reads.pages.listViews(realm.id, ids),
        (ids) => reads.pages.listTexts(realm.id, ids),
      );
    });
  }
}

/** One message of a web-public channel, without logging in (protocol §9). */
export class SpectateMessage {
  static readonly inject = ['unitOfWork', 'serverChannelConfig'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly option: WebPublicOption,
  ) {}

  /** @throws DomainError UNKNOWN_REALM, UNAUTHENTICATED, UNKNOWN_MESSAGE */
  execute(caller: Spectator, { id }: { readonly id: MessageId }): Promise<GetMessageOutput> {
    return this.uow.read(async (reads) => {
      const { realm, actor, spectators } = await enterAsSpectator(reads, caller, this.option);
      const [view] = await reads.pages.listViews(realm.id, [id]);
      const channelId = view?.message.channelId ?? null;
      const channel = channelId === null ? null : await reads.channels.find(realm.id, channelId);
      enforce(canSpectateMessage(realm, channel, spectators));
      return { viewer: actor, view: view!, flags: FLAGS, realm, isSenderKnown: true };
    });
  }
}

/** How often anybody may read a file without logging in. */
export interface SpectatedFiles {
  /** Counts a reading. @throws DomainError RATE_LIMITED */
  count(file: Pick<StoredFile, 'id'>): void;
}

/** A file that messages of web-public channels link to, or a thumbnail of it, without logging in (messages §16.2, protocol §9). */
export class SpectateFile {
  static readonly inject = ['unitOfWork', 'blobStore', 'serverChannelConfig', 'spectatedFiles'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly blobs: BlobStore,
    private readonly option: WebPublicOption,
    private readonly readings: SpectatedFiles,
  ) {}

  /**
   * `format`: the thumbnail's name; null: the file itself.
   * @throws DomainError UNKNOWN_REALM, UNAUTHENTICATED, UNKNOWN_FILE, CANNOT_VIEW_FILE, RATE_LIMITED
   */
  async execute(
    caller: Spectator,
    { pathId, format }: { readonly pathId: string; readonly format: string | null },
  ): Promise<ReadableFile> {
    const readable = await this.uow.read(async (reads) => {
      const { realm, spectators } = await enterAsSpectator(reads, caller, this.option);
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
