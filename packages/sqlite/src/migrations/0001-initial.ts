import { AUTHENTICATION_SCHEMA } from '../authentication/schema.js';
import { CHANNELS_SCHEMA } from '../channels/schema.js';
import { EVENTS_SCHEMA } from '../events/schema.js';
import { GROUPS_SCHEMA } from '../groups/schema.js';
import { MESSAGES_SCHEMA } from '../messages/schema.js';
import { REALMS_SCHEMA } from '../realms/schema.js';
import { USERS_SCHEMA } from '../users/schema.js';
import type { Migration } from './migration.js';

export const initial: Migration = {
  name: '0001-initial',
  sql: [
    REALMS_SCHEMA,
    USERS_SCHEMA,
    GROUPS_SCHEMA,
    CHANNELS_SCHEMA,
    MESSAGES_SCHEMA,
    EVENTS_SCHEMA,
    AUTHENTICATION_SCHEMA,
  ].join('\n'),
};
