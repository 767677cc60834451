import type { HttpFeature } from '../feature.js';
import { CHANNEL_WIRE_ERRORS } from './channel.errors.js';
import { CHANNEL_EVENTS } from './channel.events.js';
import {
  channelFoldersSection,
  channelsSection,
  defaultChannelGroupsSection,
  defaultChannelsSection,
  mutedTopicsSection,
  subscriptionsSection,
  userTopicsSection,
} from './channel.register.js';
import { channelRoutes } from './channel.routes.js';
import { channelListRoutes } from './channel-list.routes.js';

export const CHANNELS = {
  routes: () => [...channelRoutes(), ...channelListRoutes],
  events: CHANNEL_EVENTS,
  errors: CHANNEL_WIRE_ERRORS,
  registerSections: () => [
    mutedTopicsSection,
    userTopicsSection,
    subscriptionsSection,
    channelsSection,
    defaultChannelsSection,
    defaultChannelGroupsSection,
    channelFoldersSection,
  ],
} satisfies HttpFeature;
