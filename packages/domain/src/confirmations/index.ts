export type { Confirmation, ConfirmationPurpose, ConfirmationRepository } from './confirmation.js';
export { subjectOf } from './confirmation.js';
export { ForgetConfirmations, SendConfirmationLetters } from './confirmation-jobs.js';
export type { LinkKeys } from './link-keys.js';
