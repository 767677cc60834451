import type { HttpFeature } from '../feature.js';
import { FILE_EVENTS } from './file.events.js';
import { fileRoutes } from './file.routes.js';

export const FILES = {
  routes: fileRoutes,
  events: FILE_EVENTS,
  errors: {
    UPLOAD_QUOTA_EXCEEDED: { code: 'REALM_UPLOAD_QUOTA' },
    OWN_UPLOAD_QUOTA_EXCEEDED: { code: 'USER_UPLOAD_QUOTA' },
  },
} satisfies HttpFeature;
