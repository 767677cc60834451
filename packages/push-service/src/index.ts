export { SqlitePushServerStore } from './push-server-store.js';
export { createPushService, type PushService, type PushServiceOptions } from './push-service.js';
