/**
 * Registering decorators needs a twentieth of class-validator: this entry takes 4 ms to load, the whole of it 80 ms.
 * Both share one metadata storage.
 */
declare module 'class-validator/cjs/register-decorator.js' {
  export { registerDecorator } from 'class-validator';
}
declare module 'class-validator/cjs/metadata/MetadataStorage.js' {
  export { getMetadataStorage } from 'class-validator';
}
