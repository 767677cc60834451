import type { HttpFeature } from '../feature.js';
import { CHANNEL_WIRE_ERRORS } from './channel.errors.js';
import { CHANNEL_EVENTS } from './channel.events.js';
import {
  channelsSection,
  defaultChannelsSection,
  mutedTopicsSection,
  subscriptionsSection,
  userTopicsSection,
} from './channel.register.js';
import { channelRoutes } from './channel.routes.js';

export const CHANNELS = {
  routes: () => channelRoutes,
  events: CHANNEL_EVENTS,
  errors: CHANNEL_WIRE_ERRORS,
  registerSections: () => [
    mutedTopicsSection,
    userTopicsSection,
    subscriptionsSection,
    channelsSection,
    defaultChannelsSection,
  ],
} satisfies HttpFeature;
