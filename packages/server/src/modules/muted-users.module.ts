import { MuteUser, UnmuteUser } from '@parley/domain/muted-users';
import { ContainerModule } from 'inversify';
import { provide } from '../provide.js';
import { TOKENS } from '../tokens.js';

const { unitOfWork, clock } = TOKENS;

export const mutedUsersModule = new ContainerModule(({ bind }) => {
  provide(bind, MuteUser, unitOfWork, clock);
  provide(bind, UnmuteUser, unitOfWork);
});
