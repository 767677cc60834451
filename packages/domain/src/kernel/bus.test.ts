import { busContract } from '@parley/testkit/contracts';
import { LocalBus } from './bus.js';

describe('LocalBus', () => {
  let bus: LocalBus;
  beforeEach(() => {
    bus = new LocalBus();
  });
  busContract(
    async () => bus.connect(),
    async () => {},
  );
});
