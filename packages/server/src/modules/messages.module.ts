import {
  BotOwnerWarnings,
  ChangeMessageFlags,
  ChangeNarrowFlags,
  GetMessage,
  GetMessages,
  IndexMessages,
  ListTopics,
  MarkRead,
  RenderMarkdown,
  SendMessage,
  SystemMessages,
} from '@parley/domain/messages';
import { ContainerModule } from 'inversify';
import { provide } from '../provide.js';
import { TOKENS } from '../tokens.js';

const { unitOfWork, markdownRenderer, renderedMessages, realmUrls, clock } = TOKENS;

export const messagesModule = new ContainerModule(({ bind }) => {
  provide(bind, SystemMessages, markdownRenderer, realmUrls, clock);
  provide(bind, RenderMarkdown, unitOfWork, markdownRenderer, realmUrls);
  provide(bind, BotOwnerWarnings, unitOfWork, SystemMessages, clock);
  provide(bind, SendMessage, unitOfWork, markdownRenderer, realmUrls, clock, BotOwnerWarnings);
  provide(bind, GetMessages, unitOfWork, realmUrls, renderedMessages);
  provide(bind, GetMessage, unitOfWork);
  provide(bind, IndexMessages, unitOfWork);
  provide(bind, ChangeMessageFlags, unitOfWork);
  provide(bind, ChangeNarrowFlags, unitOfWork, realmUrls, renderedMessages);
  provide(bind, MarkRead, unitOfWork);
  provide(bind, ListTopics, unitOfWork);
});
