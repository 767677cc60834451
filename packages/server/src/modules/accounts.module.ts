import { DeactivateSelf, DeactivateUser, ReactivateUser } from '@parley/domain/accounts';
import { ContainerModule } from 'inversify';
import { provide } from '../provide.js';
import { TOKENS } from '../tokens.js';

const { unitOfWork, clock } = TOKENS;

export const accountsModule = new ContainerModule(({ bind }) => {
  provide(bind, DeactivateUser, unitOfWork, clock);
  provide(bind, DeactivateSelf, unitOfWork, clock);
  provide(bind, ReactivateUser, unitOfWork, clock);
});
