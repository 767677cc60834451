import {
  FindHostUsers,
  GetHostUserApiKey,
  LinkHostUser,
  SetHostUserActive,
  UpsertHostUser,
} from '@parley/domain/host-users';
import { ContainerModule } from 'inversify';
import { provide } from '../provide.js';
import { TOKENS } from '../tokens.js';

const { unitOfWork, apiKeyMint, clock, randomness } = TOKENS;

export const hostUsersModule = new ContainerModule(({ bind }) => {
  provide(bind, UpsertHostUser, unitOfWork, apiKeyMint, clock, randomness);
  provide(bind, LinkHostUser, unitOfWork);
  provide(bind, FindHostUsers, unitOfWork);
  provide(bind, SetHostUserActive, unitOfWork, clock);
  provide(bind, GetHostUserApiKey, unitOfWork, apiKeyMint, clock);
});
