<?php

// Debian's packages bring an autoloader each, in place of Composer's.
require '/usr/share/php/Symfony/Bundle/FrameworkBundle/autoload.php';
require '/usr/share/php/Symfony/Bundle/TwigBundle/autoload.php';
require '/usr/share/php/Doctrine/DBAL/autoload.php';

spl_autoload_register(function (string $class): void {
    if (str_starts_with($class, 'App\\')) {
        require dirname(__DIR__) . '/src/' . strtr(substr($class, 4), '\\', '/') . '.php';
    }
});
