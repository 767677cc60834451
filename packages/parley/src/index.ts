// API for applications that run and call a chat. Use cases for `parley.useCase` are in `parley/domain/<feature>`.

export type { Email as Letter, HashRequest, Mailer, PasswordHasher, Role } from '@parley/domain/access';
export type { BlobStore } from '@parley/domain/files';
export { type Caller, type Clock, DomainError, type ErrorCode, type Randomness } from '@parley/domain/kernel';
export type { MarkdownRenderer } from '@parley/domain/markdown';
export * from '@parley/server';
