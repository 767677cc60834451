import { eventEncoding } from '../kernel/event-format.js';
import { parseAudience } from './audiences.js';
import { EVENT_FORMATS } from './features.js';

export const {
  encodeEvent,
  decodeEvent,
  sizeOf: sizeOfEvent,
  blankEvent: BLANK_EVENT,
} = eventEncoding(EVENT_FORMATS, parseAudience);
