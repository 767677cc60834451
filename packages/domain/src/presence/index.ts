export {
  OFFLINE_SECONDS,
  type Presence,
  type PresenceRepository,
  type PresenceTimes,
  statusOf,
  timesAfterSwitch,
} from './presence.js';
export { PresenceBoard, type PresenceEntry, type PresenceList } from './presence-board.js';

import './presence-errors.js';

export type { PresenceEventTypes } from './presence-events.js';
export * from './use-cases/get-presence.js';
export * from './use-cases/list-presence.js';
export * from './use-cases/report-presence.js';
