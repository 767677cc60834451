import { imageProcessorContract } from './contracts/image-processor.contract.js';
import { FakeImageProcessor, fakeImage } from './fake-image-processor.js';

describe('FakeImageProcessor', () =>
  imageProcessorContract(async () => ({
    processor: new FakeImageProcessor(),
    make: async ({ damage, ...info }) => fakeImage(info, damage),
  })));
