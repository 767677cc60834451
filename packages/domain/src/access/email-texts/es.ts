/** Email texts, by English text. */
export const TEXTS = {
  'Confirm your address for {name}': 'Confirma tu dirección para {name}',
  'You are signing up for {organization}. Confirm that this is your address to continue.':
    'Te estás registrando en {organization}. Confirma que esta es tu dirección para continuar.',
  'The link expires after one day.': 'El enlace caduca después de un día.',
  'Complete registration': 'Completar el registro',
  'If you did not request this, ignore this email.': 'Si no lo has solicitado, ignora este correo.',
  'Someone logged in to {organization} through a service that has not verified this address. Confirm that it is yours, and log in again.':
    'Alguien entró en {organization} mediante un servicio que no ha verificado esta dirección. Confirma que es tuya y vuelve a entrar.',
  'Confirm this address': 'Confirmar esta dirección',
  'Confirm your new address for {name}': 'Confirma tu nueva dirección para {name}',
  'You are changing the address of your account at {organization} to {email}.':
    'Estás cambiando la dirección de tu cuenta en {organization} a {email}.',
  'Your account at {name}': 'Tu cuenta en {name}',
  'You have an account, {email}, at {organization}. Set a password to log in.':
    'Tienes una cuenta, {email}, en {organization}. Crea una contraseña para entrar.',
  'Set a password': 'Crear una contraseña',
  'Set a new password for {name}': 'Crea una nueva contraseña para {name}',
  'Someone requested a new password for the account {email} at {organization}.':
    'Alguien ha solicitado una nueva contraseña para la cuenta {email} en {organization}.',
  'Set a new password': 'Crear una nueva contraseña',
  'The account is deactivated. An administrator of the organization can reactivate it.':
    'La cuenta está desactivada. La administración de la organización puede reactivarla.',
  'New log-in to {name}': 'Nuevo acceso a {name}',
  'Someone logged in to your account {email} at {organization}.':
    'Alguien ha entrado en tu cuenta {email} en {organization}.',
  'Time: {time}': 'Hora: {time}',
  'Program: {program}': 'Programa: {program}',
  'Network address: {ip}': 'Dirección de red: {ip}',
  unknown: 'desconocido',
  'If this was not you, set a new password immediately and get a new API key.':
    'Si no has sido tú, crea de inmediato una nueva contraseña y obtén una nueva clave de API.',
  'You receive this because email notifications for new log-ins are enabled in your settings.':
    'Recibes este correo porque las notificaciones de nuevos accesos están activadas en tus ajustes.',
  'Your address at {name} has changed': 'Tu dirección en {name} ha cambiado',
  'The address of your account at {organization} is now {email}. Log in with it; emails go there, too.':
    'La dirección de tu cuenta en {organization} es ahora {email}. Úsala para entrar; los correos también llegan ahí.',
  'If you did not change it, tell an administrator of the organization immediately.':
    'Si no la has cambiado, avisa de inmediato a la administración de la organización.',
  'Welcome to {name}': 'Te damos la bienvenida a {name}',
  'You have joined {name}. Log in with:': 'Te has unido a {name}. Entra con:',
  'Organization: {url}': 'Organización: {url}',
  'Address: {email}': 'Dirección: {email}',
  'Password: the one you chose when you signed up': 'Contraseña: la que elegiste al registrarte',
  'Password: none; log in the same way as when you joined': 'Contraseña: ninguna; entra del mismo modo que al unirte',
  'How to connect': 'Cómo conectarse',
  'Your account at {name} has been deactivated': 'Tu cuenta en {name} ha sido desactivada',
  '{person} has deactivated your account at {organization}. You can no longer log in.':
    '{person} ha desactivado tu cuenta en {organization}. Ya no puedes entrar.',
  'An administrator': 'La administración',
  'Comment by {person}:': 'Comentario de {person}:',
  'Second factor of your account at {name}': 'Segundo factor de tu cuenta en {name}',
  'A second factor was added to your account {email} at {organization}.':
    'Se ha añadido un segundo factor a tu cuenta {email} en {organization}.',
  'A second factor was removed from your account {email} at {organization}.':
    'Se ha eliminado un segundo factor de tu cuenta {email} en {organization}.',
  'An administrator removed all second factors from your account {email} at {organization}.':
    'La administración ha eliminado todos los segundos factores de tu cuenta {email} en {organization}.',
  'If you did not expect this, set a new password immediately and check the second factors of your account.':
    'Si no lo esperabas, crea de inmediato una nueva contraseña y revisa los segundos factores de tu cuenta.',
  'Second factors of your account': 'Segundos factores de tu cuenta',
  '{person} has invited you to join {name}': '{person} te ha invitado a unirte a {name}',
  'Reminder: {subject}': 'Recordatorio: {subject}',
  'Hello,': 'Hola:',
  '{person} invites you to join {name}, where teams talk in channels and topics.':
    '{person} te invita a unirte a {name}, donde los equipos conversan en canales y temas.',
  'This is a reminder: the invitation expires soon.': 'Esto es un recordatorio: la invitación caduca pronto.',
  'If you do not want to join, ignore this email.': 'Si no quieres unirte, ignora este correo.',
  '{name} notifications': 'Notificaciones de {name}',
  'Test notification': 'Notificación de prueba',
  'This is a test notification from {organization}.': 'Esta es una notificación de prueba de {organization}.',
  'New messages': 'Mensajes nuevos',
  'There are more messages in this conversation.': 'Hay más mensajes en esta conversación.',
  'This email does not include message content because you have disabled message content in email notifications.':
    'Este correo no incluye el contenido de los mensajes porque lo has desactivado en las notificaciones por correo.',
  'This email does not include message content because your organization hides message content in email.':
    'Este correo no incluye el contenido de los mensajes porque tu organización lo oculta en los correos.',
  'DMs with {name}': 'Mensajes directos con {name}',
  'Group DMs with {names}': 'Mensajes de grupo con {names}',
  '{count} more': '{count} más',
  'You are receiving this because you have email notifications enabled for direct messages.':
    'Recibes este correo porque tienes activadas las notificaciones por correo de mensajes directos.',
  'You are receiving this because you were personally mentioned.':
    'Recibes este correo porque te han mencionado personalmente.',
  'You are receiving this because @{group} was mentioned.': 'Recibes este correo porque se ha mencionado a @{group}.',
  'You are receiving this because all topic participants were mentioned.':
    'Recibes este correo porque se ha mencionado a todos los participantes del tema.',
  'You are receiving this because everyone in the channel was mentioned.':
    'Recibes este correo porque se ha mencionado a todos en el canal.',
  'You are receiving this because you have wildcard mention notifications enabled for topics you follow.':
    'Recibes este correo porque tienes activadas las notificaciones de menciones generales en los temas que sigues.',
  'You are receiving this because you have email notifications enabled for topics you follow.':
    'Recibes este correo porque tienes activadas las notificaciones por correo de los temas que sigues.',
  'You are receiving this because you have email notifications enabled for {channel}.':
    'Recibes este correo porque tienes activadas las notificaciones por correo de {channel}.',
  'You are receiving this because you have email notifications enabled for the channel.':
    'Recibes este correo porque tienes activadas las notificaciones por correo del canal.',
  'Do not reply to this email.': 'No respondas a este correo.',
  'Reply to this email directly, or in the chat.': 'Responde directamente a este correo o en el chat.',
  'View or reply in {name}': 'Ver o responder en {name}',
  'Manage email preferences': 'Preferencias de correo',
  Unsubscribe: 'Cancelar la suscripción',
  'Weekly digest of {name}': 'Resumen semanal de {name}',
  'Open {name}': 'Abrir {name}',
  '{name} digest': 'Resumen de {name}',
  'You are receiving this because you have not been active for some days and have email digests enabled.':
    'Recibes este correo porque llevas unos días sin actividad y tienes activados los resúmenes por correo.',
  'Unread messages: {messages}, senders: {senders}': 'Mensajes sin leer: {messages}, remitentes: {senders}',
  'New channels': 'Canales nuevos',
  'News of the last week in {name}:': 'Novedades de la última semana en {name}:',
  'Busy conversations: {count}': 'Conversaciones animadas: {count}',
  'New channels: {count}': 'Canales nuevos: {count}',
};
