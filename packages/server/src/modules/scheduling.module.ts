import { SendMessage, SystemMessages } from '@parley/domain/messages';
import {
  ChangeScheduledMessage,
  CreateReminder,
  CreateScheduledMessage,
  DeleteReminder,
  DeleteScheduledMessage,
  DeliverReminder,
  DeliverScheduledMessage,
  ListReminders,
  ListScheduledMessages,
} from '@parley/domain/scheduling';
import { ContainerModule } from 'inversify';
import { provide, provideAs } from '../provide.js';
import { LISTS, TOKENS } from '../tokens.js';

const { unitOfWork, realmUrls, clock } = TOKENS;

export const schedulingModule = new ContainerModule(({ bind }) => {
  provide(bind, ListScheduledMessages, unitOfWork);
  provide(bind, CreateScheduledMessage, unitOfWork, SendMessage, clock);
  provide(bind, ChangeScheduledMessage, unitOfWork, SendMessage, clock);
  provide(bind, DeleteScheduledMessage, unitOfWork);
  provide(bind, DeliverScheduledMessage, unitOfWork, SendMessage, SystemMessages, clock);
  provideAs(bind, LISTS.jobHandler, DeliverScheduledMessage);

  provide(bind, ListReminders, unitOfWork);
  provide(bind, CreateReminder, unitOfWork, SystemMessages, realmUrls, clock);
  provide(bind, DeleteReminder, unitOfWork);
  provide(bind, DeliverReminder, unitOfWork, SystemMessages, realmUrls);
  provideAs(bind, LISTS.jobHandler, DeliverReminder);
});
