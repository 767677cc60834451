// What an application needs to run a chat and to call it. Use cases for `parley.useCase` are in `parley/domain/<feature>`.

export type { HashRequest, PasswordHasher } from '@parley/domain/credentials';
export type { BlobStore } from '@parley/domain/files';
export type { Letter, Mailer } from '@parley/domain/mail';
export type { MarkdownRenderer } from '@parley/domain/markdown';
export type { Role } from '@parley/domain/permissions';
export { type Caller, type Clock, DomainError, type ErrorCode, type Randomness } from '@parley/domain/shared';
export * from '@parley/server';
