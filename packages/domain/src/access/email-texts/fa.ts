/** Email texts, by English text. */
export const TEXTS = {
  'Confirm your address for {name}': 'تأیید نشانی شما برای {name}',
  'You are signing up for {organization}. Confirm that this is your address to continue.':
    'شما در حال ثبت‌نام در {organization} هستید. برای ادامه تأیید کنید که این نشانی شما است.',
  'The link expires after one day.': 'پیوند یک روز اعتبار دارد.',
  'Complete registration': 'تکمیل ثبت‌نام',
  'If you did not request this, ignore this email.': 'اگر شما این را درخواست نکرده‌اید، این ایمیل را نادیده بگیرید.',
  'Someone logged in to {organization} through a service that has not verified this address. Confirm that it is yours, and log in again.':
    'کسی از راه سرویسی که این نشانی را تأیید نکرده است وارد {organization} شده است. تأیید کنید که این نشانی مال شما است و دوباره وارد شوید.',
  'Confirm this address': 'تأیید این نشانی',
  'Confirm your new address for {name}': 'تأیید نشانی تازهٔ شما برای {name}',
  'You are changing the address of your account at {organization} to {email}.':
    'شما نشانی حسابتان در {organization} را به {email} تغییر می‌دهید.',
  'Your account at {name}': 'حساب شما در {name}',
  'You have an account, {email}, at {organization}. Set a password to log in.':
    'شما حسابی با نشانی {email} در {organization} دارید. برای ورود، گذرواژه تعیین کنید.',
  'Set a password': 'تعیین گذرواژه',
  'Set a new password for {name}': 'تعیین گذرواژهٔ تازه برای {name}',
  'Someone requested a new password for the account {email} at {organization}.':
    'کسی برای حساب {email} در {organization} گذرواژهٔ تازه درخواست کرده است.',
  'Set a new password': 'تعیین گذرواژهٔ تازه',
  'The account is deactivated. An administrator of the organization can reactivate it.':
    'حساب غیرفعال است. مدیر سازمان می‌تواند آن را دوباره فعال کند.',
  'New log-in to {name}': 'ورود تازه به {name}',
  'Someone logged in to your account {email} at {organization}.':
    'کسی وارد حساب شما با نشانی {email} در {organization} شده است.',
  'Time: {time}': 'زمان: {time}',
  'Program: {program}': 'برنامه: {program}',
  'Network address: {ip}': 'نشانی شبکه: {ip}',
  unknown: 'ناشناخته',
  'If this was not you, set a new password immediately and get a new API key.':
    'اگر این شما نبودید، بی‌درنگ گذرواژهٔ تازه تعیین کنید و کلید API تازه بگیرید.',
  'You receive this because email notifications for new log-ins are enabled in your settings.':
    'این ایمیل را دریافت می‌کنید چون اعلان ایمیلی ورودهای تازه در تنظیمات شما فعال است.',
  'Your address at {name} has changed': 'نشانی شما در {name} تغییر کرده است',
  'The address of your account at {organization} is now {email}. Log in with it; emails go there, too.':
    'نشانی حساب شما در {organization} اکنون {email} است. با آن وارد شوید؛ ایمیل‌ها هم به آن فرستاده می‌شوند.',
  'If you did not change it, tell an administrator of the organization immediately.':
    'اگر شما آن را تغییر نداده‌اید، بی‌درنگ به مدیر سازمان خبر دهید.',
  'Welcome to {name}': 'به {name} خوش آمدید',
  'You have joined {name}. Log in with:': 'به {name} پیوستید. برای ورود:',
  'Organization: {url}': 'سازمان: {url}',
  'Address: {email}': 'نشانی: {email}',
  'Password: the one you chose when you signed up': 'گذرواژه: همان که هنگام ثبت‌نام برگزیدید',
  'Password: none; log in the same way as when you joined': 'گذرواژه: ندارد؛ همان‌گونه که پیوستید وارد شوید',
  'How to connect': 'چگونه وصل شوید',
  'Your account at {name} has been deactivated': 'حساب شما در {name} غیرفعال شده است',
  '{person} has deactivated your account at {organization}. You can no longer log in.':
    '{person} حساب شما در {organization} را غیرفعال کرده است. دیگر نمی‌توانید وارد شوید.',
  'An administrator': 'یک مدیر',
  'Comment by {person}:': 'توضیح {person}:',
  'Second factor of your account at {name}': 'عامل دوم حساب شما در {name}',
  'A second factor was added to your account {email} at {organization}.':
    'یک عامل دوم به حساب شما با نشانی {email} در {organization} افزوده شد.',
  'A second factor was removed from your account {email} at {organization}.':
    'یک عامل دوم از حساب شما با نشانی {email} در {organization} برداشته شد.',
  'An administrator removed all second factors from your account {email} at {organization}.':
    'یک مدیر همهٔ عامل‌های دوم را از حساب شما با نشانی {email} در {organization} برداشت.',
  'If you did not expect this, set a new password immediately and check the second factors of your account.':
    'اگر انتظار این را نداشتید، بی‌درنگ گذرواژهٔ تازه تعیین کنید و عامل‌های دوم حسابتان را بررسی کنید.',
  'Second factors of your account': 'عامل‌های دوم حساب شما',
  '{person} has invited you to join {name}': '{person} شما را به {name} دعوت کرده است',
  'Reminder: {subject}': 'یادآوری: {subject}',
  'Hello,': 'سلام،',
  '{person} invites you to join {name}, where teams talk in channels and topics.':
    '{person} شما را دعوت می‌کند به {name} بپیوندید؛ جایی که تیم‌ها در کانال‌ها و موضوع‌ها گفتگو می‌کنند.',
  'This is a reminder: the invitation expires soon.': 'این یک یادآوری است: دعوت به‌زودی منقضی می‌شود.',
  'If you do not want to join, ignore this email.': 'اگر نمی‌خواهید بپیوندید، این ایمیل را نادیده بگیرید.',
  '{name} notifications': 'اعلان‌های {name}',
  'Test notification': 'اعلان آزمایشی',
  'This is a test notification from {organization}.': 'این یک اعلان آزمایشی از {organization} است.',
  'New messages': 'پیام‌های تازه',
  'There are more messages in this conversation.': 'این گفتگو پیام‌های بیشتری دارد.',
  'This email does not include message content because you have disabled message content in email notifications.':
    'این ایمیل محتوای پیام را ندارد، چون شما محتوای پیام را در اعلان‌های ایمیلی غیرفعال کرده‌اید.',
  'This email does not include message content because your organization hides message content in email.':
    'این ایمیل محتوای پیام را ندارد، چون سازمان شما محتوای پیام را در ایمیل پنهان می‌کند.',
  'DMs with {name}': 'پیام‌های مستقیم با {name}',
  'Group DMs with {names}': 'پیام‌های گروهی با {names}',
  '{count} more': '{count} نفر دیگر',
  'You are receiving this because you have email notifications enabled for direct messages.':
    'این ایمیل را دریافت می‌کنید چون اعلان ایمیلی پیام‌های مستقیم را فعال کرده‌اید.',
  'You are receiving this because you were personally mentioned.':
    'این ایمیل را دریافت می‌کنید چون به شخص شما اشاره شده است.',
  'You are receiving this because @{group} was mentioned.': 'این ایمیل را دریافت می‌کنید چون به @{group} اشاره شده است.',
  'You are receiving this because all topic participants were mentioned.':
    'این ایمیل را دریافت می‌کنید چون به همهٔ شرکت‌کنندگان موضوع اشاره شده است.',
  'You are receiving this because everyone in the channel was mentioned.':
    'این ایمیل را دریافت می‌کنید چون به همه در کانال اشاره شده است.',
  'You are receiving this because you have wildcard mention notifications enabled for topics you follow.':
    'این ایمیل را دریافت می‌کنید چون اعلان اشاره به همه را برای موضوع‌هایی که دنبال می‌کنید فعال کرده‌اید.',
  'You are receiving this because you have email notifications enabled for topics you follow.':
    'این ایمیل را دریافت می‌کنید چون اعلان ایمیلی را برای موضوع‌هایی که دنبال می‌کنید فعال کرده‌اید.',
  'You are receiving this because you have email notifications enabled for {channel}.':
    'این ایمیل را دریافت می‌کنید چون اعلان ایمیلی را برای {channel} فعال کرده‌اید.',
  'You are receiving this because you have email notifications enabled for the channel.':
    'این ایمیل را دریافت می‌کنید چون اعلان ایمیلی را برای کانال فعال کرده‌اید.',
  'Do not reply to this email.': 'به این ایمیل پاسخ ندهید.',
  'Reply to this email directly, or in the chat.': 'به همین ایمیل یا در چت پاسخ دهید.',
  'View or reply in {name}': 'دیدن یا پاسخ در {name}',
  'Manage email preferences': 'مدیریت ترجیحات ایمیل',
  Unsubscribe: 'لغو اشتراک',
  'Weekly digest of {name}': 'چکیدهٔ هفتگی {name}',
  'Open {name}': 'باز کردن {name}',
  '{name} digest': 'چکیدهٔ {name}',
  'You are receiving this because you have not been active for some days and have email digests enabled.':
    'این ایمیل را دریافت می‌کنید چون چند روز فعال نبوده‌اید و ایمیل‌های چکیده را فعال کرده‌اید.',
  'Unread messages: {messages}, senders: {senders}': 'پیام‌های خوانده‌نشده: {messages}، فرستندگان: {senders}',
  'New channels': 'کانال‌های تازه',
  'News of the last week in {name}:': 'خبرهای هفتهٔ گذشته در {name}:',
  'Busy conversations: {count}': 'گفتگوهای پرجنب‌وجوش: {count}',
  'New channels: {count}': 'کانال‌های تازه: {count}',
};
