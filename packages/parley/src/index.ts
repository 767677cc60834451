// What an application needs to run a chat and to call it. Use cases for `parley.useCase` are in `parley/domain/<feature>`.

export type { HashRequest, PasswordHasher } from '@parley/domain/authentication';
export type { BlobStore } from '@parley/domain/files';
export type { Letter, Mailer } from '@parley/domain/mail';
export type { MarkdownRenderer } from '@parley/domain/messages';
export { type Caller, type Clock, DomainError, type ErrorCode, type Randomness } from '@parley/domain/shared';
export type { Role } from '@parley/domain/users';
export * from '@parley/server';
