export { EmailChangedLetters } from './account-letters.js';
export { DeactivationLetters, MAX_DEACTIVATION_COMMENT_LENGTH } from './deactivation-letter.js';
export { DeleteContributions, type MessagePlace } from './delete-contributions.js';
export * from './use-cases/confirm-email-change.js';
export * from './use-cases/create-user.js';
export * from './use-cases/deactivate-user.js';
export * from './use-cases/get-confirmation.js';
export * from './use-cases/operate-accounts.js';
export * from './use-cases/reactivate-user.js';
export * from './use-cases/register-user.js';
export * from './use-cases/reset-password.js';
export * from './use-cases/update-user.js';

import '../users/user-errors.js';
