export {
  type Device,
  type DeviceRepository,
  type PendingRegistration,
  type PushKey,
  REGISTRATION_ERRORS,
  type RegistrationError,
} from './device.js';
export { loadDevices } from './device-loaders.js';

import './push-errors.js';

export type { DeviceChange, PushEventTypes } from './push-events.js';
export { RegisterDevices, UnregisterTokens } from './push-jobs.js';
export type { ActiveDevice, PushDelivery, PushRecipient, PushService } from './push-service.js';
export { PUSH_TOKEN_KINDS, type PushToken, type PushTokenKind, type PushTokenRepository } from './push-token.js';
export * from './use-cases/add-device.js';
export * from './use-cases/add-push-token.js';
export * from './use-cases/register-for-push.js';
export * from './use-cases/remove-device.js';
export * from './use-cases/remove-push-token.js';
export * from './use-cases/send-encrypted-test-push.js';
export * from './use-cases/send-test-push.js';
