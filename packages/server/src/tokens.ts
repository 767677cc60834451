import type {
  ApiKeyMint,
  ChannelOptions,
  ChannelQuota,
  Clock,
  DevelopmentMode,
  DisposableDomains,
  LoginAttempts,
  MarkdownRenderer,
  PasswordHasher,
  PasswordStrength,
  Randomness,
  RealmAddresses,
  ServedQueues,
  ServerAddress,
  UnitOfWork,
} from '@parley/domain';
import { token } from './provide.js';

/** The ports and options that use cases ask for. What is made of them is bound by its class. */
export const TOKENS = {
  unitOfWork: token<UnitOfWork>('UnitOfWork'),
  clock: token<Clock>('Clock'),
  randomness: token<Randomness>('Randomness'),
  apiKeyMint: token<ApiKeyMint>('ApiKeyMint'),
  passwordHasher: token<PasswordHasher>('PasswordHasher'),
  passwordStrength: token<PasswordStrength>('PasswordStrength'),
  disposableDomains: token<DisposableDomains>('DisposableDomains'),
  loginAttempts: token<LoginAttempts>('LoginAttempts'),
  markdownRenderer: token<MarkdownRenderer>('MarkdownRenderer'),
  realmAddresses: token<RealmAddresses>('RealmAddresses'),
  serverAddress: token<ServerAddress>('ServerAddress'),
  channelOptions: token<ChannelOptions>('ChannelOptions'),
  channelQuota: token<ChannelQuota>('ChannelQuota'),
  developmentMode: token<DevelopmentMode>('DevelopmentMode'),
  servedQueues: token<ServedQueues>('ServedQueues'),
} as const;
