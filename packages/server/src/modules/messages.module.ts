import {
  ChangeMessageFlags,
  ChangeNarrowFlags,
  GetMessage,
  GetMessages,
  ListTopics,
  MarkRead,
  NoticeBoard,
  RenderMarkdown,
  SendMessage,
  UnheardBots,
} from '@parley/domain';
import { ContainerModule } from 'inversify';
import { provide } from '../provide.js';
import { TOKENS } from '../tokens.js';

const { unitOfWork, markdownRenderer, realmAddresses, clock } = TOKENS;

export const messagesModule = new ContainerModule(({ bind }) => {
  provide(bind, NoticeBoard, markdownRenderer, realmAddresses, clock);
  provide(bind, RenderMarkdown, unitOfWork, markdownRenderer, realmAddresses);
  provide(bind, UnheardBots, unitOfWork, NoticeBoard, clock);
  provide(bind, SendMessage, unitOfWork, markdownRenderer, realmAddresses, clock, UnheardBots);
  provide(bind, GetMessages, unitOfWork, realmAddresses);
  provide(bind, GetMessage, unitOfWork);
  provide(bind, ChangeMessageFlags, unitOfWork);
  provide(bind, ChangeNarrowFlags, unitOfWork, realmAddresses);
  provide(bind, MarkRead, unitOfWork);
  provide(bind, ListTopics, unitOfWork);
});
