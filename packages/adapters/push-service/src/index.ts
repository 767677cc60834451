export { SqlitePushServerStore } from './push-server-store.js';
export { createPushService, type PushServiceOptions } from './push-service.js';
