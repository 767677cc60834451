export { DELIVERY_FEATURES } from './delivery-features.js';
export { BLANK_EVENT, decodeEvent, encodeEvent, sizeOfEvent } from './event-encoding.js';
export { FILE_USERS } from './features.js';
export { type Injectable, NAMED_SERVICES, type Resolve, type Wired } from './inject.js';
export type { Ports } from './ports.js';
export { type CommitListener, PublishingUnitOfWork } from './publishing-unit-of-work.js';
export { decodeQueue, encodeQueue, QUEUE_FILTERS } from './queue-encoding.js';
export { UnitRecord } from './unit-record.js';
