import type {} from '@parley/domain/markdown';
import type { HttpFeature } from '../feature.js';
import { EDIT_PART } from './edit-history.presenters.js';
import { MESSAGE_WIRE_ERRORS } from './message.errors.js';
import { MESSAGE_EVENTS } from './message.events.js';
import {
  newestMessageSection,
  recentConversationsSection,
  starredMessagesSection,
  stopWordsSection,
  unreadSection,
} from './message.register.js';
import { messageRoutes } from './message.routes.js';
import { SUBMESSAGE_PART } from './submessage.presenters.js';
import { TYPING_EVENTS } from './typing.events.js';

export const MESSAGES = {
  routes: messageRoutes,
  events: { ...MESSAGE_EVENTS, ...TYPING_EVENTS },
  errors: MESSAGE_WIRE_ERRORS,
  registerSections: () => [
    newestMessageSection,
    unreadSection,
    starredMessagesSection,
    recentConversationsSection,
    stopWordsSection,
  ],
  messageParts: [SUBMESSAGE_PART, EDIT_PART],
} satisfies HttpFeature;
