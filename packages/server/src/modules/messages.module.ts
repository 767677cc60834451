import {
  AddSubmessage,
  BotOwnerWarnings,
  ChangeMessageFlags,
  ChangeNarrowFlags,
  DeleteMessage,
  DeleteTopic,
  ExpireMessages,
  GetEditHistory,
  GetMessage,
  GetMessages,
  GetUnread,
  IndexMessages,
  ListReaders,
  ListTopics,
  MarkdownTextRenderer,
  MarkRead,
  MatchNarrow,
  MoveNotices,
  NotifyTyping,
  NotifyTypingInMessage,
  OwnTextParser,
  PurgeArchive,
  RenderMarkdown,
  ReportMessage,
  RestoreMessages,
  SendMessage,
  SpectateMessage,
  SpectateMessages,
  SpectateTopics,
  SystemMessages,
  UpdateMessage,
} from '@parley/domain/messages';
import { ContainerModule } from 'inversify';
import { provide } from '../provide.js';
import { TOKENS } from '../tokens.js';

const {
  unitOfWork,
  markdownRenderer,
  renderedMessages,
  realmUrls,
  clock,
  ephemeralEvents,
  contentDigest,
  eventLoop,
  serverChannelConfig,
  messageHooks,
} = TOKENS;

export const messagesModule = new ContainerModule(({ bind }) => {
  provide(bind, MarkdownTextRenderer, unitOfWork, markdownRenderer, realmUrls);
  provide(bind, SystemMessages, markdownRenderer, realmUrls, clock);
  provide(bind, OwnTextParser, unitOfWork, markdownRenderer, realmUrls);
  provide(bind, RenderMarkdown, unitOfWork, markdownRenderer, OwnTextParser);
  provide(bind, BotOwnerWarnings, unitOfWork, SystemMessages, clock);
  provide(
    bind,
    SendMessage,
    unitOfWork,
    markdownRenderer,
    OwnTextParser,
    realmUrls,
    clock,
    BotOwnerWarnings,
    messageHooks,
  );
  provide(bind, GetMessages, unitOfWork, realmUrls, renderedMessages);
  provide(bind, SpectateMessages, unitOfWork, realmUrls, renderedMessages, serverChannelConfig);
  provide(bind, SpectateMessage, unitOfWork, serverChannelConfig);
  provide(bind, SpectateTopics, unitOfWork, serverChannelConfig);
  provide(bind, ListReaders, unitOfWork);
  provide(bind, ReportMessage, unitOfWork, SystemMessages);
  provide(bind, NotifyTyping, unitOfWork, ephemeralEvents);
  provide(bind, NotifyTypingInMessage, unitOfWork, ephemeralEvents, clock);
  provide(bind, AddSubmessage, unitOfWork, clock);
  provide(bind, MatchNarrow, unitOfWork, realmUrls, renderedMessages);
  provide(bind, GetMessage, unitOfWork);
  provide(bind, MoveNotices, SystemMessages, realmUrls, clock);
  provide(
    bind,
    UpdateMessage,
    unitOfWork,
    markdownRenderer,
    OwnTextParser,
    clock,
    contentDigest,
    MoveNotices,
    messageHooks,
  );
  provide(bind, GetEditHistory, unitOfWork, renderedMessages, eventLoop);
  provide(bind, DeleteMessage, unitOfWork, clock);
  provide(bind, DeleteTopic, unitOfWork, clock);
  provide(bind, ExpireMessages, unitOfWork, clock);
  provide(bind, PurgeArchive, unitOfWork, clock);
  provide(bind, RestoreMessages, unitOfWork);
  provide(bind, IndexMessages, unitOfWork);
  provide(bind, ChangeMessageFlags, unitOfWork);
  provide(bind, ChangeNarrowFlags, unitOfWork, realmUrls, renderedMessages);
  provide(bind, MarkRead, unitOfWork);
  provide(bind, GetUnread, unitOfWork);
  provide(bind, ListTopics, unitOfWork);
});
